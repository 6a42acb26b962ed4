package replay

import (
	"encoding/json"
	"slices"
)

// undelivered memos that are out of the order, if ever there are such, come last.
func undelivered(call Call) []string {
	ids := append([]string{}, call.Order...)
	var rest []string
	for id := range call.Memos {
		rest = append(rest, id)
	}
	slices.Sort(rest)
	var order []string
	seen := map[string]bool{}
	for _, id := range append(ids, rest...) {
		if _, known := call.Memos[id]; known && !seen[id] {
			seen[id] = true
			order = append(order, id)
		}
	}
	return order
}

// deliverNext delivers one memo: the earliest completed memo whose step has been found.
func (s *session) deliverNext() (bool, error) {
	found, memo := s.takeMemo()
	if found == nil {
		return false, nil
	}
	data, failure := readMemo(memo, found.Kind)
	if failure == nil && s.hooks.Values != nil {
		var err error
		if data, err = s.hooks.Values.DecodeResult(found.ctx, found.found(), data); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure != nil {
		found.err = s.hooks.StepError(found.displayName, failure)
	}
	found.data, found.delivered = data, true
	s.ready = append(s.ready, found.branch)
	return true, nil
}

// takeMemo returns nil if no memo belongs to a step that has been found.
func (s *session) takeMemo() (*step, json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, hashedID := range s.order {
		if found := s.steps[hashedID]; found != nil {
			s.order = slices.Delete(s.order, i, i+1)
			return found, s.memos[hashedID]
		}
	}
	return nil, nil
}
