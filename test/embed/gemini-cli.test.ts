import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Part } from '@google/genai'
import {
  buildRequest,
  convertToFunctionResponse,
  dataUrl,
  formatShellResult,
  fullyQualified,
  functionResponsePart,
  generateValidName,
  getStringifiedResultForDisplay,
  hasCycleInSchema,
  hasValidTypes,
  headers,
  sanitizeToolName,
  toolsForModel,
  transformMcpContentToParts,
  wrapToolResult,
} from '../../src/embed/index.ts'

const PNG = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
const PDF = { fileData: { mimeType: 'application/pdf', fileUri: 'gs://x/y.pdf' } }

function output(text: string): Part {
  return { functionResponse: { id: 'fc1', name: 'read_file', response: { output: text } } }
}

describe('convertToFunctionResponse', () => {
  const convert = (content: Parameters<typeof convertToFunctionResponse>[2], options = {}) =>
    convertToFunctionResponse('read_file', 'fc1', content, options)

  test('text is the output', () => {
    assert.deepEqual(convert('hello'), [output('hello')])
    assert.deepEqual(convert(''), [output('')])
    assert.deepEqual(convert({ text: 'hello' }), [output('hello')])
  })

  test('a list follows a word of success', () => {
    const status = output('Tool execution succeeded.')
    assert.deepEqual(convert([{ text: 'a' }, PNG]), [status, { text: 'a' }, PNG])
    assert.deepEqual(convert(['a', PNG]), [status, { text: 'a' }, PNG])
    assert.deepEqual(convert([PNG]), [status, PNG])
    assert.deepEqual(convert([]), [status])
    const code = { executableCode: { code: '1' } }
    assert.deepEqual(convert(code), [status, code])
  })

  test('binary content follows a word about it', () => {
    assert.deepEqual(convert(PNG), [output('Binary content of type image/png was processed.'), PNG])
    assert.deepEqual(convert(PDF), [output('Binary content of type application/pdf was processed.'), PDF])
    const untyped = { inlineData: { data: 'AAAA' } }
    assert.deepEqual(convert(untyped), [output('Binary content of type unknown was processed.'), untyped])
  })

  test('a response is passed on, with an id and a name', () => {
    const given = { functionResponse: { id: 'own', name: 'other', response: { output: 'x' } } }
    assert.deepEqual(convert(given), [given])
    assert.deepEqual(convert({ functionResponse: { response: { output: 'x' } } }), [output('x')])
  })

  test('content inside a response becomes text, and keeps its pictures', () => {
    const nested = (...content: unknown[]) => ({ functionResponse: { name: 'x', response: { content } } })
    assert.deepEqual(convert(nested({ type: 'text', text: 'a' }, { text: 'b' }, 'c')), [output('a\nb\nc')])
    assert.deepEqual(convert([nested({ type: 'text', text: 'a' }, PNG)]), [output('a'), PNG])
    const failed = { functionResponse: { response: { content: [{ type: 'text', text: 'no' }], isError: true } } }
    assert.deepEqual(convert(failed)[0]?.functionResponse?.response, { error: 'no' })
    assert.deepEqual(convert({ functionResponse: { response: { content: 'plain' } } }), [output('plain')])
  })

  test('there is exactly one response, whatever a tool returns', () => {
    const twice = [output('a'), { text: 't' }, output('b')]
    assert.deepEqual(convert(twice), [output('a'), { text: 't' }, { text: '{"output":"b"}' }])
  })

  test('an error is an error', () => {
    const error = [{ functionResponse: { id: 'fc1', name: 'read_file', response: { error: 'No such file.' } } }]
    assert.deepEqual(convert('ignored', { error: 'No such file.' }), error)
    assert.deepEqual(convert([PNG], { error: { message: 'No such file.', type: 'x' } }), error)
  })

  test('from Gemini 3 on, media go inside', () => {
    const inside = (text: string, ...parts: Part[]) => ({
      functionResponse: { id: 'fc1', name: 'read_file', response: { output: text }, parts },
    })
    const nested = { nested: true }
    assert.deepEqual(convert([{ text: 'a' }, PNG, { text: 'b' }, PDF], nested), [inside('a\nb', PNG, PDF)])
    assert.deepEqual(convert(PNG, nested), [inside('Binary content of type image/png was processed.', PNG)])
    assert.deepEqual(convert([PNG, PDF], nested), [inside('Tool execution succeeded.', PNG, PDF)])
    assert.deepEqual(convert([{ text: 'a' }], nested), [output('a')])
    assert.deepEqual(convert('a', nested), [output('a')])
    const response = { functionResponse: { response: { content: [{ type: 'text', text: 'a' }, PNG] } } }
    assert.deepEqual(convert([response, PDF], nested), [inside('a', PNG, PDF)])
  })
})

describe('results for other hosts', () => {
  test('functionResponsePart and wrapToolResult', () => {
    assert.deepEqual(functionResponsePart('fc1', 'read_file', 'x'), output('x'))
    assert.deepEqual(wrapToolResult('fc1', 'read_file', 'x'), [output('x')])
    assert.deepEqual(wrapToolResult('fc1', 'read_file', [PNG]), [output('Tool execution succeeded.'), PNG])
    assert.deepEqual(wrapToolResult('fc1', 'read_file', PNG), [output('Binary content processed.'), PNG])
    assert.deepEqual(wrapToolResult('fc1', 'read_file', { text: 'x' }), [output('x')])
  })

  test('a shell result has eight lines', () => {
    const full = formatShellResult({
      command: 'ls -la',
      directory: 'src',
      output: 'a.ts',
      error: 'warn',
      exitCode: 0,
      signal: 'SIGTERM',
      backgroundPids: [1, 2],
      pgid: 12345,
    })
    assert.deepEqual(full.split('\n'), [
      'Command: ls -la',
      'Directory: src',
      'Output: a.ts',
      'Error: warn',
      'Exit Code: 0',
      'Signal: SIGTERM',
      'Background PIDs: 1, 2',
      'Process Group PGID: 12345',
    ])
    assert.deepEqual(formatShellResult({ command: 'ls', output: '', backgroundPids: [], exitCode: null }).split('\n'), [
      'Command: ls',
      'Directory: (root)',
      'Output: (empty)',
      'Error: (none)',
      'Exit Code: (none)',
      'Signal: (none)',
      'Background PIDs: (none)',
      'Process Group PGID: (none)',
    ])
  })

  test('a data URL', () => assert.equal(dataUrl('image/png', 'AAAA'), 'data:image/png;base64,AAAA'))
})

describe('MCP', () => {
  const blocks = [
    { type: 'text', text: 'hello' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'f:/a', text: 'inside' } },
    { type: 'resource', resource: { uri: 'f:/b', blob: 'CCCC' } },
    { type: 'resource_link', uri: 'f:/c', name: 'c', title: 'The C' },
    { type: 'resource_link', uri: 'f:/d', name: 'd' },
    { type: 'hologram' },
  ]

  test('blocks become parts', () => {
    assert.deepEqual(transformMcpContentToParts('shot', blocks), [
      { text: 'hello' },
      { text: "[Tool 'shot' provided the following image data with mime-type: image/png]" },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { text: "[Tool 'shot' provided the following audio data with mime-type: audio/wav]" },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
      { text: 'inside' },
      { text: "[Tool 'shot' provided the following embedded resource with mime-type: application/octet-stream]" },
      { inlineData: { mimeType: 'application/octet-stream', data: 'CCCC' } },
      { text: 'Resource Link: The C at f:/c' },
      { text: 'Resource Link: d at f:/d' },
      { text: "[Tool 'shot' provided content of type hologram, which is not understood]" },
    ])
  })

  test('a person sees the same from parts, blocks and a response', () => {
    const shown = [
      'hello',
      '[Image: image/png]',
      '[Audio: audio/wav]',
      'inside',
      '[File: application/octet-stream]',
      'Resource Link: The C at f:/c',
    ].join('\n')
    const some = blocks.slice(0, 6)
    assert.equal(getStringifiedResultForDisplay(transformMcpContentToParts('shot', some)), shown)
    assert.equal(getStringifiedResultForDisplay(some), shown)
    assert.equal(getStringifiedResultForDisplay([{ functionResponse: { response: { content: some } } }]), shown)
    assert.equal(getStringifiedResultForDisplay([output('x'), PNG]), 'x\n[Image: image/png]')
    assert.equal(getStringifiedResultForDisplay([]), '')
  })

  test('names', () => {
    const long = `${'a'.repeat(40)}${'b'.repeat(40)}`
    assert.equal(generateValidName('my tool/ü.x-1'), 'my_tool__.x-1')
    assert.equal(generateValidName(long), `${'a'.repeat(28)}___${'b'.repeat(32)}`)
    assert.equal(sanitizeToolName, generateValidName)
    assert.equal(fullyQualified('python', 'run'), 'python__run')
  })

  test('schemas', () => {
    const typed = { type: 'object', properties: { a: { type: 'string' } } }
    assert.equal(hasValidTypes(typed), true)
    assert.equal(hasValidTypes({ type: 'object', properties: { a: { description: 'no type' } } }), false)
    assert.equal(hasCycleInSchema(typed), false)
    assert.equal(hasCycleInSchema({ type: 'object', properties: { a: { $ref: '#' } } }), true)
  })
})

describe('requests', () => {
  const declaration = { name: 'a', description: 'b', parametersJsonSchema: { type: 'object' } }
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

  test('buildRequest and toolsForModel', () => {
    const tools = toolsForModel([declaration])
    assert.deepEqual(tools, [{ functionDeclarations: [declaration] }])
    const config = { systemInstruction: 'Be.', tools }
    assert.deepEqual(buildRequest('m', contents, 'Be.', tools), { model: 'm', contents, config })
    assert.deepEqual(toolsForModel([]), [])
    assert.deepEqual(buildRequest('m', contents, undefined, []), { model: 'm', contents, config: {} })
  })

  test('headers', () => {
    const base = { 'User-Agent': 'x/1', 'Content-Type': 'application/json' }
    assert.deepEqual(headers('x/1'), base)
    assert.deepEqual(headers('x/1', { oauthToken: 't' }), { ...base, Authorization: 'Bearer t' })
    assert.deepEqual(headers('x/1', { apiKey: 'k' }), { ...base, 'x-goog-api-key': 'k' })
  })
})
