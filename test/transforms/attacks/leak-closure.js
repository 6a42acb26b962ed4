/*
{
  "attack": "keeps requests in a map around the function",
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
        "size": 1
      }
    },
    {
      "event": {
        "size": 1
      }
    }
  ]
}
*/
const cache = new Map();
const transform = (evt) => { cache.set(evt.n, evt); return { size: cache.size } }
