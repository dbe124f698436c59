package model

import (
	"encoding/json"
	"fmt"
)

// block is the turn as a part of a message, and the reason for which the message ends.
func (t Turn) block(number int) (block map[string]any, stop string) {
	if t.tool == "" {
		return map[string]any{"type": "text", "text": t.words}, "end_turn"
	}
	return map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", number), "name": t.tool, "input": t.input}, "tool_use"
}

// message is an answer of the Messages API.
func (t Turn) message(number int, name string) map[string]any {
	block, stop := t.block(number)
	return map[string]any{
		"id": fmt.Sprintf("msg_%d", number), "type": "message", "role": "assistant", "model": name,
		"content": []any{block}, "stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": 1, "output_tokens": 1},
	}
}

// messages is an answer of the Messages API as a stream.
func (t Turn) messages(number int, name string) []event {
	begun := t.message(number, name)
	begun["content"], begun["stop_reason"] = []any{}, nil
	block, stop := t.block(number)
	delta := map[string]any{"type": "text_delta", "text": t.words}
	if t.tool == "" {
		block["text"] = ""
	} else {
		delta = map[string]any{"type": "input_json_delta", "partial_json": arguments(t.input)}
		block["input"] = map[string]any{}
	}
	return []event{
		{"type": "message_start", "message": begun},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}

// responses is an answer of the Responses API as a stream.
func (t Turn) responses(number int) []event {
	id := fmt.Sprintf("resp_%d", number)
	call := fmt.Sprintf("call_%d", number)
	var item map[string]any
	switch input := t.input.(type) {
	case nil:
		item = map[string]any{"type": "message", "role": "assistant", "id": "m" + id, "content": []any{map[string]any{"type": "output_text", "text": t.words}}}
	case string:
		item = map[string]any{"type": "custom_tool_call", "call_id": call, "name": t.tool, "input": input}
	default:
		item = map[string]any{"type": "function_call", "call_id": call, "name": t.tool, "arguments": arguments(input)}
	}
	usage := map[string]any{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
	return []event{
		{"type": "response.created", "response": map[string]any{"id": id}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": id, "usage": usage}},
	}
}

// arguments is the input of a call as a text of JSON.
func arguments(input any) string {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // a test's own script
	}
	return string(data)
}
