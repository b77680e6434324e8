import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type OpenAI from 'openai'
import {
  geminiRequestBody,
  geminiToolCallReader,
  nativeToolCallsFromGeminiPart,
  openAiToolsToGemini,
  type Warning,
} from '../../src/embed/index.ts'

const READ: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
}

describe('Gemini parts', () => {
  const idOf = (chunks: Iterable<{ toolCalls: { id?: string }[] }>) => [...chunks][0]?.toolCalls[0]?.id ?? ''

  test('a call becomes a chunk', () => {
    const part = { functionCall: { id: 'call-123', name: 'read_file', args: { path: 'config.json' } } }
    assert.deepEqual(
      [...nativeToolCallsFromGeminiPart(part)],
      [
        {
          type: 'native_tool_calls',
          toolCalls: [
            { id: 'call-123', type: 'function', function: { name: 'read_file', arguments: '{"path":"config.json"}' } },
          ],
        },
      ],
    )
    assert.equal(
      [...nativeToolCallsFromGeminiPart({ functionCall: { name: 'a' } })][0]?.toolCalls[0]?.function.arguments,
      '{}',
    )
    assert.deepEqual([...nativeToolCallsFromGeminiPart({ text: 'hi' })], [])
  })

  test('ids are readable and never repeat', () => {
    const read = geminiToolCallReader({ prefix: 's1_' })
    const part = { functionCall: { id: '', name: 'read_file', args: {} } }
    assert.deepEqual([idOf(read(part)), idOf(read(part))], ['toolu_read_file_s1_0000', 'toolu_read_file_s1_0001'])
    const ids = Array.from({ length: 2000 }, () => idOf(nativeToolCallsFromGeminiPart(part)))
    const more = Array.from({ length: 200 }, () => idOf(geminiToolCallReader()(part)))
    assert.equal(new Set([...ids, ...more]).size, 2200)
    assert.equal(idOf(nativeToolCallsFromGeminiPart(part, (name) => `mine_${name}`)), 'mine_read_file')
  })

  test('a piece of a call is no call', () => {
    const warnings: Warning[] = []
    const warn = (warning: Warning) => void warnings.push(warning)
    assert.deepEqual(
      [...nativeToolCallsFromGeminiPart({ functionCall: { name: 'a', willContinue: true } }, undefined, warn)],
      [],
    )
    assert.deepEqual([...nativeToolCallsFromGeminiPart({ functionCall: { args: {} } }, undefined, warn)], [])
    assert.equal(warnings.length, 2)
  })

  test('a name that Gemini refuses is mended, and comes back', () => {
    const odd: OpenAI.Chat.ChatCompletionTool = { type: 'function', function: { name: '1-tool' } }
    const name = openAiToolsToGemini([odd])[0]?.functionDeclarations?.[0]?.name ?? ''
    assert.match(name, /^[A-Za-z_]/)
    const [chunk] = geminiToolCallReader({ tools: [odd] })({ functionCall: { name } })
    assert.equal(chunk?.toolCalls[0]?.function.name, '1-tool')
  })
})

describe('geminiRequestBody', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

  test('puts everything inside request', () => {
    assert.deepEqual(
      geminiRequestBody({ model: 'm', project: 'p', contents, systemInstruction: 'Be.', tools: [READ] }),
      {
        model: 'm',
        project: 'p',
        request: {
          systemInstruction: { role: 'user', parts: [{ text: 'Be.' }] },
          tools: [
            {
              functionDeclarations: [
                {
                  name: 'read_file',
                  description: 'Reads a file.',
                  parametersJsonSchema: {
                    type: 'object',
                    properties: { path: { type: 'string' } },
                    required: ['path'],
                  },
                },
              ],
            },
          ],
          toolConfig: { functionCallingConfig: { mode: 'ANY' } },
          contents,
        },
      },
    )
  })

  test('leaves out what there is none of', () => {
    assert.deepEqual(geminiRequestBody({ model: 'm', contents }), { model: 'm', request: { contents } })
    const auto = geminiRequestBody({
      model: 'm',
      contents,
      tools: [READ],
      mode: 'AUTO',
      generationConfig: { temperature: 0 },
    })
    assert.equal(auto.request.toolConfig?.functionCallingConfig?.mode, 'AUTO')
    assert.deepEqual(auto.request.generationConfig, { temperature: 0 })
  })

  test('a tool that cannot be declared costs only itself', () => {
    const warnings: Warning[] = []
    const bad: OpenAI.Chat.ChatCompletionTool = {
      type: 'function',
      function: { name: 'bad', parameters: { type: 'string' } },
    }
    const free: OpenAI.Chat.ChatCompletionTool = { type: 'custom', custom: { name: 'patch', description: 'Patches.' } }
    const tools = openAiToolsToGemini([bad, READ, free], (warning) => warnings.push(warning))
    assert.deepEqual(
      tools[0]?.functionDeclarations?.map(({ name }) => name),
      ['read_file', 'patch'],
    )
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['tool-set-aside'],
    )
    assert.deepEqual(openAiToolsToGemini([]), [])
  })
})
