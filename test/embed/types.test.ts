import assert from 'node:assert/strict'
import { test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import type {
  Content,
  FunctionCallingConfig,
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentParameters,
  Part,
  Tool,
  ToolConfig,
} from '@google/genai'
import type OpenAI from 'openai'
import {
  addNativeToolCallsToParams,
  buildRequest,
  convertToFunctionResponse,
  geminiRequestBody,
  nativeToolCallAssembler,
  openAiToolsToGemini,
  processNativeToolCallsFromDelta,
  textResult,
  toApiHistory,
  toFunctionResponse,
  toGeminiFunction,
  toGeminiFunctionResponse,
  toGeminiFunctionResponseContent,
  toGeminiToolConfig,
  toGeminiTools,
  toModelContentWithFunctions,
  toolsForModel,
  toRejectedExchange,
  toToolUse,
  transformMcpContentToParts,
} from '../../src/embed/index.ts'

// The compiler does the testing here: what goes in and what comes out fits the SDKs' own types, without a cast. The
// lines that must not compile prove that those types are there, and not `any`.

const tool: OpenAI.Chat.ChatCompletionTool = { type: 'function', function: { name: 'a' } }
const definition = { name: 'a', description: 'b', parameters: { type: 'object' } }
const call = { id: 'c', name: 'a', arguments: '{}' }

test('OpenAI', () => {
  const streaming: OpenAI.Chat.ChatCompletionCreateParamsStreaming = { model: 'm', messages: [], stream: true }
  const whole: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming = { model: 'm', messages: [] }
  const either: OpenAI.Chat.ChatCompletionCreateParams = streaming
  const one: OpenAI.Chat.ChatCompletionCreateParamsStreaming = addNativeToolCallsToParams(
    streaming,
    {},
    { allowedTools: [tool] },
  )
  const two: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming = addNativeToolCallsToParams(whole, {
    toolStyle: 'json',
  })
  const three: OpenAI.Chat.ChatCompletionCreateParams = addNativeToolCallsToParams(either, { toolStyle: 'xml' })
  const choice: OpenAI.Chat.ChatCompletionToolChoiceOption = { type: 'function', function: { name: 'a' } }
  addNativeToolCallsToParams(streaming, {}, undefined, { toolChoice: choice })

  const delta: OpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta = { tool_calls: [{ index: 0 }] }
  // The chunk type of a host that takes these chunks.
  type HostChunk = {
    type: 'native_tool_calls'
    toolCalls: { index?: number; id?: string; type?: string; function?: { name: string; arguments?: string } }[]
  }
  const chunks: HostChunk[] = [...processNativeToolCallsFromDelta(delta, 'json', () => {})]
  toToolUse(chunks.flatMap((chunk: HostChunk) => chunk.toolCalls))
  const assembler = nativeToolCallAssembler({ tools: [tool] })
  assembler.push(delta)
  const calls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall[] = assembler
    .end('stop')
    .calls.map(({ id, function: called }) => ({ id, type: 'function', function: called }))
  assert.deepEqual(
    [one, two, three].map(({ model }) => model),
    ['m', 'm', 'm'],
  )
  assert.deepEqual([chunks, calls], [[], []])
  // @ts-expect-error A choice that OpenAI does not know.
  addNativeToolCallsToParams(streaming, {}, undefined, { toolChoice: 'sometimes' })
})

test('Anthropic', () => {
  const { blocks, rejected } = toToolUse([{ function: { name: 'a', arguments: '{}' } }])
  const content: Anthropic.ContentBlockParam[] = toApiHistory(blocks)
  const message: Anthropic.MessageParam = { role: 'assistant', content }
  const exchanges: { toolUse: Anthropic.ContentBlockParam; toolResult: Anthropic.ContentBlockParam }[] =
    rejected.map(toRejectedExchange)
  const result: Anthropic.ToolResultBlockParam = {
    type: 'tool_result',
    tool_use_id: 'c',
    content: [{ type: 'text', text: 'x' }],
  }
  const part: Part = toFunctionResponse(result, 'a')
  // @ts-expect-error A history is for an assistant's message, not a list of tools.
  const tools: Anthropic.Tool[] = toApiHistory([])
  assert.equal(tools.length, 1)
  assert.deepEqual([message.content.length, exchanges.length, part.functionResponse?.id], [1, 0, 'c'])
})

test('Gemini', () => {
  const declaration: FunctionDeclaration = toGeminiFunction(definition)
  const lists: Tool[][] = [toGeminiTools([definition]), openAiToolsToGemini([tool]), toolsForModel([declaration])]
  const toolConfig: ToolConfig = toGeminiToolConfig('auto')
  const calling: FunctionCallingConfig = toGeminiToolConfig({ name: 'a' }).functionCallingConfig
  const result = textResult(call, 'x')
  const parts: Part[] = [
    toGeminiFunctionResponse(result),
    ...convertToFunctionResponse('a', 'c', [{ text: 'x' }]),
    ...transformMcpContentToParts('a', [{ type: 'text' }]),
  ]
  const contents: Content[] = [toModelContentWithFunctions('x', [call]), toGeminiFunctionResponseContent([result])]
  const request: GenerateContentParameters = buildRequest('m', contents, 'x', lists[0] ?? [])
  const { tools, toolConfig: forced, ...rest } = geminiRequestBody({ model: 'm', contents, tools: [tool] }).request
  const config: GenerateContentConfig = { ...(tools && { tools }), ...(forced && { toolConfig: forced }) }
  // @ts-expect-error A declaration is no tool.
  const wrong: Tool = declaration
  assert.equal(wrong, declaration)
  assert.deepEqual([lists.map((list) => list.length), parts.length, contents.length], [[1, 1, 1], 4, 2])
  assert.deepEqual([toolConfig.functionCallingConfig?.mode, calling.mode], ['AUTO', 'ANY'])
  assert.deepEqual([request.contents, rest.contents, config.tools], [contents, contents, tools])
})
