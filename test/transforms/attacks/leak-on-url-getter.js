/*
{
  "attack": "keeps something for the next request on a getter of URL",
  "requests": [
    {
      "body": {
        "n": 1
      }
    },
    {
      "body": {
        "n": 2
      }
    }
  ],
  "expect": [
    {
      "event": {
        "seen": "undefined"
      }
    },
    {
      "event": {
        "seen": "undefined"
      }
    }
  ]
}
*/
function transform(evt, headers, queryParams, raw) {
  const target = Object.getOwnPropertyDescriptor(URL.prototype, 'href').get;
  const seen = typeof target.leak;
  try { target.leak = evt } catch {}
  try { target[Symbol.for('leak')] = evt } catch {}
  try { Object.setPrototypeOf(target, { leak: evt }) } catch {}
  return { seen: seen === 'undefined' && target[Symbol.for('leak')] === undefined ? 'undefined' : 'leaked' };
}
