import { test } from 'node:test'
import type OpenAI from 'openai'
import {
  assert as hold,
  jsonValue,
  array,
  property,
  record,
  constantFrom,
  oneof,
  option,
  string,
  nat,
} from 'fast-check'
import {
  convertToFunctionResponse,
  getStringifiedResultForDisplay,
  nativeToolCallAssembler,
  parseFunctionCall,
  processNativeToolCallsFromDelta,
  toApiHistory,
  toModelContentWithFunctions,
  toToolUse,
  transformMcpContentToParts,
} from '../../src/embed/index.ts'

/** Something that looks like a piece of a call, with anything in the wrong place. */
const piece = record(
  {
    index: oneof(nat(2), jsonValue()),
    id: oneof(constantFrom('a', 'b', ''), jsonValue()),
    function: oneof(
      record({ name: oneof(constantFrom('read', ''), jsonValue()), arguments: oneof(string(), jsonValue()) }),
      jsonValue(),
    ),
  },
  { requiredKeys: [] },
)

const delta = oneof(record({ tool_calls: array(piece), content: option(string()) }, { requiredKeys: [] }), jsonValue())

test('no delta makes the helpers throw, and every call gets an id of its own', () => {
  hold(
    property(array(delta), option(constantFrom('stop', 'tool_calls', 'length', 'odd')), (deltas, finish) => {
      const assembler = nativeToolCallAssembler()
      for (const given of deltas as (OpenAI.Chat.ChatCompletionChunk.Choice.Delta | null)[]) {
        toToolUse([...processNativeToolCallsFromDelta(given, 'json', () => {})].flatMap(({ toolCalls }) => toolCalls))
        assembler.push(given)
      }
      const { calls, rejected } = assembler.end(finish)
      toApiHistory(toToolUse(calls).blocks)
      const ids = [...calls, ...rejected].map(({ id }) => id)
      return (
        new Set(ids).size === ids.length && calls.every(({ function: called }) => JSON.parse(called.arguments) !== null)
      )
    }),
  )
})

test('no part makes the helpers throw', () => {
  hold(
    property(array(jsonValue()), (values) => {
      for (const value of values) {
        const call = parseFunctionCall({ functionCall: value })
        if (call) toModelContentWithFunctions('', [call])
      }
      const blocks = values.map((content) => ({ functionResponse: { response: { content } } }))
      convertToFunctionResponse('a', 'b', blocks)
      getStringifiedResultForDisplay(blocks)
      transformMcpContentToParts(
        'a',
        values.map((data) => ({ type: 'image', data, resource: data, text: data })),
      )
    }),
  )
})
