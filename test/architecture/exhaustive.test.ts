import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '../support/paths.ts'

/** A new member of a union, and files that must not compile before they handle it. */
interface NewMember {
  readonly what: string
  readonly file: string
  /** The beginning of the declaration, and the same with the new member. */
  readonly change: readonly [string, string]
  /** Occurs in every error about the new member. */
  readonly mark: RegExp
  readonly consumers: readonly string[]
}

const MEMBERS: readonly NewMember[] = [
  {
    what: 'run event',
    file: 'src/agent/loop/run-event.ts',
    change: ['export type RunEvent =\n', "export type RunEvent =\n  | { readonly type: 'new-run-event' }\n"],
    mark: /new-run-event/,
    consumers: [
      'src/agent/telemetry/trace-run.ts',
      'src/cli/output/json-output.ts',
      'src/cli/output/stream-json-output.ts',
      'src/cli/output/text-output.ts',
      'src/cli/tui/conversation-state.ts',
    ],
  },
  {
    what: 'turn event',
    file: 'src/model/event.ts',
    change: ['export type TurnEvent =\n', "export type TurnEvent =\n  | { readonly type: 'new-turn-event' }\n"],
    mark: /new-turn-event/,
    consumers: [
      'src/agent/telemetry/trace-run.ts',
      'src/cli/output/stream-json-output.ts',
      'src/cli/output/text-output.ts',
      'src/cli/tui/conversation-state.ts',
      'src/model/fold.ts',
      'src/provider/http/key-redactor.ts',
      'src/wire/response-writer.ts',
    ],
  },
  {
    what: 'log entry',
    file: 'src/session/log/entry.ts',
    change: ['export type EntryBody =\n', "export type EntryBody =\n  | { readonly kind: 'new-entry' }\n"],
    mark: /new-entry/,
    consumers: [
      'src/agent/telemetry/trace-run.ts',
      'src/cli/command/sessions/markdown.ts',
      'src/session/import-conversation.ts',
      'src/session/log/entry-schema.ts',
      'src/session/log/entry.ts',
      'src/session/log/external-media.ts',
      'src/session/log/unverified-entry.ts',
      'src/session/derive-model-history.ts',
    ],
  },
  {
    what: 'call state',
    file: 'src/agent/calls/call-state.ts',
    change: [
      'export type CallState =',
      "interface NewState {\n  readonly status: 'new-state'\n  readonly call: CallPart\n}\nexport type CallState = NewState |",
    ],
    mark: /new-state|NewState/,
    consumers: ['src/agent/calls/schedule.ts', 'src/cli/output/text-output.ts', 'src/cli/tui/view/call.ts'],
  },
  {
    what: 'part',
    file: 'src/model/turn.ts',
    change: [
      'export type Part = TextPart | ReasoningPart | MediaPart | CallPart | ResultPart',
      "interface NewPart {\n  readonly kind: 'new-part'\n  readonly native?: NativeData\n}\nexport type Part = NewPart | TextPart | ReasoningPart | MediaPart | CallPart | ResultPart",
    ],
    mark: /new-part|NewPart/,
    consumers: ['src/agent/history/compact.ts'],
  },
  {
    what: 'part of an assistant turn',
    file: 'src/model/turn.ts',
    change: ['export type AssistantPart =', 'export type AssistantPart = NewPart |'],
    mark: /new-part|NewPart/,
    consumers: [
      'src/agent/history/compact.ts',
      'src/cli/command/sessions/markdown.ts',
      'src/provider/middleware/budget.ts',
      'src/session/log/entry-schema.ts',
      'src/wire/anthropic/encode-messages.ts',
      'src/wire/anthropic/write-response.ts',
      'src/wire/gemini/encode-request.ts',
      'src/wire/gemini/write-response.ts',
      'src/wire/history/transcript.ts',
      'src/wire/openai-responses/encode-input.ts',
      'src/wire/openai-responses/write-response.ts',
      'src/wire/plain-conversation/to-plain.ts',
      'src/wire/response-writer.ts',
    ],
  },
]

describe('a new member of a union does not compile until its consumers handle it', async () => {
  const tree = mkdtempSync(join(tmpdir(), 'dragoman-exhaustive-'))
  for (const name of ['src', 'types', 'package.json']) cpSync(join(root, name), join(tree, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  const exclude = ['src/gateway/inspector/page']
  const config = { extends: join(root, 'tsconfig.json'), include: ['types', 'src'], exclude }
  writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify(config))
  for (const { file, change } of MEMBERS) {
    const text = readFileSync(join(tree, file), 'utf8')
    assert.ok(text.includes(change[0]), `${file} has no “${change[0]}”`)
    writeFileSync(join(tree, file), text.replace(...change))
  }
  // All at once: each error names the member that it is about.
  const errors = await findErrors(tree)
  rmSync(tree, { recursive: true, force: true })

  for (const { what, mark, consumers } of MEMBERS)
    test(`a new ${what}`, () => {
      const files = new Set(errors.filter((error) => mark.test(error)).map((error) => error.split('(')[0]))
      assert.deepEqual(
        consumers.filter((file) => !files.has(file)),
        [],
        `these compile; the others are ${[...files].join(', ')}`,
      )
    })
})

/** The errors of the compiler, each with its further lines. */
async function findErrors(tree: string): Promise<string[]> {
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    await promisify(execFile)(process.execPath, [compiler, '-p', '.', '--pretty', 'false'], {
      cwd: tree,
      maxBuffer: 2 ** 24,
    })
    return []
  } catch (error) {
    return (error as { stdout: string }).stdout.split(/\n(?! )/)
  }
}
