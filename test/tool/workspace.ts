import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type LocalHost, localHost } from '../../src/host/local-host.ts'
import type { Host } from '../../src/host/host.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { type BuiltinOptions, builtinTools } from '../../src/tool/builtin/index.ts'
import type { FileDiff, ToolContext, ToolOutput } from '../../src/tool/tool.ts'
import { createToolbox } from '../../src/tool/toolbox.ts'
import { clearAway } from '../support/clear.ts'

/** A workspace on the disk with all built-in tools, for one test. */
export interface Workspace extends Disposable {
  readonly root: string
  readonly outside: string
  readonly memory: string
  readonly host: LocalHost
  readonly context: ToolContext
  /** Makes a file in the workspace; gives its absolute path. */
  file(path: string, content: string | Uint8Array): string
  /** The text, or the bytes, of a file in the workspace. */
  read(path: string): string
  bytes(path: string): Buffer
  /** Calls a tool as the agent does: arguments accepted, checked, and run. */
  call(name: string, input: JsonObject, context?: Partial<ToolContext>): Promise<ToolOutput>
  /** The text that a call gives to the model. */
  say(name: string, input: JsonObject): Promise<string>
}

/** Makes a workspace, with files by their paths. */
export function workspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: BuiltinOptions = {},
): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-tool-')))
  const root = join(base, 'ws')
  const outside = join(base, 'outside')
  const memory = join(base, 'home/MEMORY.md')
  for (const folder of [root, outside]) mkdirSync(folder)
  writeFileSync(join(outside, 'secret.txt'), 'OUTSIDE\n')
  const host = localHost({ folders: [root], scratch: join(base, 'scratch'), extraFiles: [memory] })
  const box = createToolbox(builtinTools({ memory, ...options }))
  const known = new Map<string, string>()
  const context: ToolContext = {
    host,
    folders: [root],
    signal: new AbortController().signal,
    progress: () => undefined,
    seenFiles: { setHash: (path, hash) => void known.set(path, hash), getHash: (path) => known.get(path) },
  }

  const made: Workspace = {
    root,
    outside,
    memory,
    host,
    context,
    file(path, content) {
      const full = join(root, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, content)
      return full
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    bytes: (path) => readFileSync(join(root, path)),
    async call(name, input, more = {}) {
      const found = box.find(name)
      assert.ok('tool' in found, `no tool ${name}`)
      const accepted = box.validateInput(found.tool, input, name)
      if ('problem' in accepted)
        return { content: accepted.problem, error: { message: accepted.problem, type: 'invalid-arguments' } }
      return found.tool.run(accepted.input, { ...context, ...more })
    },
    async say(name, input) {
      return textOf(await made.call(name, input))
    },
    [Symbol.dispose]() {
      host.close()
      clearAway(base)
    },
  }
  for (const [path, content] of Object.entries(files)) made.file(path, content)
  return made
}

/** The text of an output. */
export function textOf({ content }: ToolOutput): string {
  return typeof content === 'string' ? content : content.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}

/** The change that an output shows to the person. */
export function diffOf({ display }: ToolOutput): FileDiff {
  assert.ok(typeof display === 'object' && 'fileDiff' in display, 'the output shows no diff')
  return display
}

/** The same host without a search program. */
export function withoutSearch(host: Host): Host {
  return { files: host.files, processes: host.processes }
}
