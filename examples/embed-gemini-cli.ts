// The tool loop of a host that speaks Gemini natively: declare, call, run, answer.
// The model is a script, so that this runs without a key; a real one is `ai.models.generateContent(request)`.
import type { Content, FunctionCall, GenerateContentParameters, Part } from '@google/genai'
import {
  buildRequest,
  convertToFunctionResponse,
  countTokens,
  formatShellResult,
  generateValidName,
  getStringifiedResultForDisplay,
  hasValidTypes,
  toolsForModel,
  transformMcpContentToParts,
  type ToolResult,
} from 'dragoman/embed/gemini'

const shell = {
  name: 'run_shell_command',
  description: 'Runs a command.',
  parametersJsonSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
}

/** A tool that an MCP server offers, under a name that Gemini would refuse. */
const screenshot = {
  name: generateValidName('take screenshot'),
  description: 'Takes a picture of the screen.',
  parametersJsonSchema: { type: 'object', properties: {} },
}

/** Runs the loop until the model calls no more. */
export async function main() {
  const tools = toolsForModel(
    [shell, screenshot].filter(({ parametersJsonSchema }) => hasValidTypes(parametersJsonSchema)),
  )
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'What is here?' }] }]
  const shown: string[] = []
  for (;;) {
    const tokens = await countTokens({ model: 'gemini-2.5-flash', contents }, count)
    if (tokens > CONTEXT_WINDOW) throw new Error('The history is too long; summarize it.')
    const answer = model(buildRequest('gemini-2.5-flash', contents, 'You are terse.', tools))
    contents.push(answer)
    const calls = (answer.parts ?? []).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
    if (calls.length === 0) return { answer: answer.parts?.[0]?.text, shown, contents }
    const answers = calls.flatMap((call) => {
      const { llmContent, returnDisplay, error } = run(call)
      const parts = convertToFunctionResponse(call.name ?? '', call.id ?? '', llmContent, { error })
      shown.push(typeof returnDisplay === 'string' ? returnDisplay : returnDisplay.fileDiff)
      return parts
    })
    contents.push({ role: 'user', parts: answers })
  }
}

/** Runs a tool: the shell gives text, the MCP server a list of parts. */
function run(call: FunctionCall): ToolResult<Part> {
  if (call.name === shell.name) {
    const command = String(call.args?.['command'])
    const text = formatShellResult({ command, output: 'README.md', exitCode: 0, pgid: 4711 })
    return { llmContent: text, returnDisplay: text }
  }
  const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  const parts = transformMcpContentToParts(screenshot.name, [image])
  return { llmContent: parts, returnDisplay: getStringifiedResultForDisplay(parts) }
}

const CONTEXT_WINDOW = 1_000_000

/** The `countTokens` method: a real one is `fetch('…:countTokens', { body })`. */
async function count(body: Record<string, unknown>): Promise<{ totalTokens: number }> {
  return { totalTokens: Math.ceil(JSON.stringify(body).length / 4) }
}

/** Calls both tools at once, then says what it learned. */
function model(request: GenerateContentParameters): Content {
  if (Array.isArray(request.contents) && request.contents.length > 1) {
    return { role: 'model', parts: [{ text: 'A README, and a blank screen.' }] }
  }
  return {
    role: 'model',
    parts: [
      { functionCall: { id: 'fc1', name: 'run_shell_command', args: { command: 'ls' } } },
      { functionCall: { id: 'fc2', name: 'take_screenshot', args: {} } },
    ],
  }
}

if (/embed-gemini-cli\.[jt]s$/.test(process.argv[1] ?? '')) console.log(JSON.stringify(await main(), null, 2))
