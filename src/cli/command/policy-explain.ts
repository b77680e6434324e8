import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { localHost } from '../../host/local.ts'
import type { Effect } from '../../policy/effect.ts'
import type { ApprovalMode, Decision, GrantScope, Proposal, Verdict } from '../../policy/policy.ts'
import { SHELL } from '../../policy/rule/rule.ts'
import { renderSafe } from '../../policy/terminal.ts'
import { urlGuard, withUrlGuard } from '../../policy/url-guard.ts'
import { workFolder } from '../setup/assemble.ts'
import { readSettings } from '../config/read.ts'
import { Complaint } from '../exit.ts'
import { RUN_OPTIONS } from '../line/options.ts'
import { policiesFor } from '../setup/policies.ts'
import { shutIn } from '../setup/shut-in.ts'
import type { PolicyOptions } from './policy.ts'

const MODES = RUN_OPTIONS['approval-mode'].from

/** `dragoman policy explain`: what would happen to a call, in words. */
export async function explainCommand(call: string, options: PolicyOptions): Promise<void> {
  const folder = workFolder(options.cwd === undefined ? {} : { cwd: options.cwd })
  const proposal = proposalOf(call, options.tool, folder)
  const settings = readSettings(folder)
  const host = localHost({ folders: [folder], scratch: tmpdir(), ...shutIn({}, settings, folder) })
  const policyFor = policiesFor(settings, {
    folders: [folder],
    sandboxed: async () => (await host.sandbox()).inForce,
  })
  const wanted = options['approval-mode'] ?? 'default'
  const decisions: [ApprovalMode, Decision][] = []
  for (const mode of MODES) {
    const policy = withUrlGuard(policyFor(mode), urlGuard())
    const grants = (await policy.offers?.(proposal)) ?? []
    decisions.push([mode, { ...(await policy.decide(proposal)), ...(grants.length > 0 && { grants }) }])
  }
  const decision = decisions.find(([mode]) => mode === wanted)?.[1]
  if (options.json) return print(JSON.stringify({ ...decision, modes: Object.fromEntries(decisions.map(verdictOf)) }))
  if (decision) print(inWords(decision))
  print(`By mode: ${decisions.map(([mode, { verdict }]) => `${mode} ${WORDS[verdict]}`).join(', ')}.`)
}

const WORDS: Readonly<Record<Verdict, string>> = { allow: 'allows it', ask: 'asks', deny: 'refuses it' }

function inWords({ verdict, rule, why, grants = [], programs = [] }: Decision): string {
  const what = { allow: 'It runs without a question.', ask: 'A person is asked.', deny: 'It is refused.' }[verdict]
  return [
    `${what} ${why}`,
    `Decided by: ${rule}.`,
    ...(programs.length > 0 ? [`It runs: ${programs.join(', ')}.`] : []),
    ...grants.map(({ covers, scopes = [] }) => `“Always” can cover: ${covers} (${scopes.map(scopeName).join(', ')}).`),
  ].join('\n')
}

function scopeName(scope: GrantScope): string {
  return { session: 'in the session', project: 'in this project', user: 'everywhere' }[scope]
}

function verdictOf([mode, { verdict }]: [ApprovalMode, Decision]): [string, Verdict] {
  return [mode, verdict]
}

/**
 * A call is written as a rule is: `write_file(src/a.ts)`; with --tool, what stands in the brackets is enough. What is no call
 * is a command for the shell.
 */
function proposalOf(call: string, named: string | undefined, folder: string): Proposal {
  if (call.trim() === '')
    throw new Complaint("explain which call? for example: dragoman policy explain 'git push', or 'write_file(a.ts)'")
  const [, first, inner] = (named === undefined && /^(\w+)\(([^]*)\)$/.exec(call)) || []
  const [tool, what] = first === undefined ? [named ?? SHELL, call] : [first, inner ?? '']
  return { tool, input: {}, effects: [effectOf(tool, what, folder)] }
}

const WRITERS: ReadonlySet<string> = new Set(['write_file', 'replace', 'smart_edit', 'save_memory'])
const READERS: ReadonlySet<string> = new Set([
  'read_file',
  'read_many_files',
  'list_directory',
  'glob',
  'search_file_content',
])

function effectOf(tool: string, what: string, folder: string): Effect {
  if (tool === SHELL) return { kind: 'exec', command: what, folder }
  if (WRITERS.has(tool)) return { kind: 'write', path: resolve(folder, what) }
  if (READERS.has(tool)) return { kind: 'read', path: resolve(folder, what) }
  if (tool !== 'web_fetch') return { kind: 'unknown' }
  const url = URL.canParse(what) ? what : `https://${what}/`
  return { kind: 'net', host: URL.canParse(url) ? new URL(url).host : what, urls: [url] }
}

function print(text: string): void {
  process.stdout.write(`${renderSafe(text, 'model-text')}\n`)
}
