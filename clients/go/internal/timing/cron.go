package timing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	cronName     = regexp.MustCompile(`^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$`)
	cronTimeZone = regexp.MustCompile(`^(?:CRON_)?TZ=\S+\s+`)
	cronItem     = regexp.MustCompile(`^(?:[*?]|(\w+)(?:-(\w+))?)(?:/(\d+))?$`)
)

type cronField struct {
	first, last int
	names       []string
}

var (
	cronSecond = cronField{last: 59}
	cronFields = []cronField{
		{last: 59},
		{last: 23},
		{first: 1, last: 31},
		{first: 1, last: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{last: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
)

// IsCron says whether a text is a schedule: five fields as crontab has them, six with seconds before, or a name such as
// @daily; perhaps after TZ=<time zone>.
func IsCron(text string) bool {
	schedule := cronTimeZone.ReplaceAllString(strings.TrimSpace(text), "")
	if cronName.MatchString(schedule) {
		return true
	}
	given, fields := strings.Fields(schedule), cronFields
	if len(given) == len(cronFields)+1 {
		fields = append([]cronField{cronSecond}, cronFields...)
	}
	if len(given) != len(fields) {
		return false
	}
	for i, items := range given {
		for item := range strings.SplitSeq(items, ",") {
			if !fields[i].takes(item) {
				return false
			}
		}
	}
	return true
}

func (f cronField) takes(item string) bool {
	parts := cronItem.FindStringSubmatch(item)
	if parts == nil {
		return false
	}
	if step, err := strconv.Atoi(parts[3]); parts[3] != "" && (err != nil || step < 1) {
		return false
	}
	if parts[1] == "" {
		return true
	}
	first, firstIs := f.value(parts[1])
	last, lastIs := first, firstIs
	if parts[2] != "" {
		last, lastIs = f.value(parts[2])
	}
	return firstIs && lastIs && f.first <= first && first <= last && last <= f.last
}

func (f cronField) value(text string) (int, bool) {
	if number, err := strconv.Atoi(text); err == nil {
		return number, true
	}
	at := slices.Index(f.names, strings.ToLower(text))
	return at + f.first, at >= 0
}
