// A provider for an OpenAI-compatible endpoint, in a host that streams chunks and keeps an Anthropic history.
// The stream is a script, so that this runs without a key; a real one comes from `client.chat.completions.create`.
import type OpenAI from 'openai'
import {
  addNativeToolCallsToParams,
  nativeToolCallAssembler,
  processNativeToolCallsFromDelta,
  toApiHistory,
  toRejectedExchange,
  toToolUse,
  type AssembledToolCalls,
  type AssistantMessageContent,
  type NativeToolCallsChunk,
} from 'dragoman/embed'

const options = { toolStyle: 'json' } as const

const metadata = {
  allowedTools: [
    {
      type: 'function',
      function: {
        name: 'read_file',
        description: 'Reads a file.',
        parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    },
  ] satisfies OpenAI.Chat.ChatCompletionTool[],
}

type Chunk = { type: 'text'; text: string } | NativeToolCallsChunk | ({ type: 'tool_calls_end' } & AssembledToolCalls)

/** The provider: one request, and its answer as chunks. */
async function* createMessage(messages: OpenAI.Chat.ChatCompletionMessageParam[]): AsyncGenerator<Chunk> {
  const params = addNativeToolCallsToParams(
    { model: 'google/gemini-2.5-flash', messages, stream: true },
    options,
    metadata,
    { toolChoice: 'auto', parallel: 'omit' },
  )
  const assembler = nativeToolCallAssembler({ tools: metadata.allowedTools })
  let finishReason: string | null = null
  for await (const chunk of scripted(params)) {
    const choice = chunk.choices[0]
    if (choice?.delta.content) yield { type: 'text', text: choice.delta.content }
    yield* processNativeToolCallsFromDelta(choice?.delta, options.toolStyle) // To be shown while it comes.
    assembler.push(choice?.delta) // To be run when it is whole.
    finishReason = choice?.finish_reason ?? finishReason
  }
  yield { type: 'tool_calls_end', ...assembler.end(finishReason) }
}

/** The host: shows the chunks, and saves the assistant's message with the same ids under which the calls run. */
export async function main() {
  let text = ''
  let pieces = 0
  const content: AssistantMessageContent[] = []
  const rejected: ReturnType<typeof toRejectedExchange>[] = []
  for await (const chunk of createMessage([{ role: 'user', content: 'Compare a.txt and b.txt.' }])) {
    if (chunk.type === 'text') text += chunk.text
    else if (chunk.type === 'native_tool_calls') pieces += chunk.toolCalls.length
    else {
      const uses = toToolUse(chunk.calls)
      content.push({ type: 'text', content: chunk.text, partial: false }, ...uses.blocks)
      rejected.push(...[...chunk.rejected, ...uses.rejected].map(toRejectedExchange))
    }
  }
  return { text, pieces, history: toApiHistory(content, text), rejected }
}

/** An endpoint that numbers every call 0, and sends the second one’s arguments in two pieces. */
async function* scripted(
  params: OpenAI.Chat.ChatCompletionCreateParamsStreaming,
): AsyncGenerator<OpenAI.Chat.ChatCompletionChunk> {
  const deltas: OpenAI.Chat.ChatCompletionChunk.Choice.Delta[] = [
    { role: 'assistant', content: 'I read ' },
    { content: 'both.' },
    {
      tool_calls: [
        { index: 0, id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } },
      ],
    },
    {
      tool_calls: [
        { index: 0, id: 'call_b', type: 'function', function: { name: 'read_file', arguments: '{"path":' } },
      ],
    },
    { tool_calls: [{ index: 0, function: { arguments: '"b.txt"}' } }] },
    {},
  ]
  for (const [at, delta] of deltas.entries()) {
    const finish_reason = at === deltas.length - 1 ? 'tool_calls' : null
    const choices = [{ index: 0, delta, finish_reason, logprobs: null } as const]
    yield { id: 'gen-1', object: 'chat.completion.chunk', created: 0, model: params.model, choices }
  }
}

if (/embed-kilocode-openrouter\.[jt]s$/.test(process.argv[1] ?? '')) console.log(JSON.stringify(await main(), null, 2))
