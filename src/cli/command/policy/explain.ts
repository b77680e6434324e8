import { tmpdir } from 'node:os'
import { localHost } from '../../../host/local-host.ts'
import type { Effect } from '../../../policy/effect.ts'
import type { ApprovalMode, Decision, GrantScope, Proposal, Verdict } from '../../../policy/policy.ts'
import { SHELL_TOOL_NAME } from '../../../policy/rules/rule.ts'
import { sanitizeText } from '../../../policy/text/sanitize.ts'
import { createUrlGuard, withUrlGuard } from '../../../policy/url/url-guard.ts'
import { listAllBuiltins } from '../../../tool/builtin/index.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { getMemoryFilePath } from '../../paths/folders.ts'
import { UserError } from '../../user-error.ts'
import { RUN_OPTIONS } from '../../args/options.ts'
import { createPoliciesFromSettings } from '../../setup/policies.ts'
import { toSandboxOptions } from '../../setup/sandbox-options.ts'
import type { PolicyCommandOptions } from './policy.ts'

const MODE_NAMES = RUN_OPTIONS['approval-mode'].from

/** `dragoman policy explain`: what would happen to a call, in words. */
export async function runPolicyExplain(call: string, options: PolicyCommandOptions): Promise<void> {
  const folder = resolveWorkFolder(options)
  const proposal = parseProposal(call, options.tool, folder)
  const settings = readSettings(folder)
  for (const notice of settings.notices) process.stderr.write(`${sanitizeText(notice, 'model-text')}\n`)
  const host = localHost({ folders: [folder], scratch: tmpdir(), ...toSandboxOptions({}, settings, folder) })
  const policyFor = createPoliciesFromSettings(settings, {
    folders: [folder],
    sandboxed: async () => (await host.sandbox()).isActive,
  })
  const requestedMode = options['approval-mode'] ?? 'default'
  const decisions: [ApprovalMode, Decision][] = []
  for (const mode of MODE_NAMES) {
    const policy = withUrlGuard(policyFor(mode), createUrlGuard())
    const grants = (await policy.offers?.(proposal)) ?? []
    decisions.push([mode, { ...(await policy.decide(proposal)), ...(grants.length > 0 && { grants }) }])
  }
  const verdicts = decisions.map(([mode, { verdict }]) => [mode, verdict] as const)
  const decision = decisions.find(([mode]) => mode === requestedMode)?.[1]
  if (options.json) return printSafe(JSON.stringify({ ...decision, modes: Object.fromEntries(verdicts) }))
  if (decision) printSafe(formatDecision(decision))
  printSafe(`By mode: ${verdicts.map(([mode, verdict]) => `${mode} ${VERDICT_PHRASES[verdict]}`).join(', ')}.`)
}

const VERDICT_PHRASES: Readonly<Record<Verdict, string>> = { allow: 'allows it', ask: 'asks', deny: 'denies it' }

function formatDecision({ verdict, rule, why, grants = [], programs = [] }: Decision): string {
  const argument = { allow: 'It runs without approval.', ask: 'It needs approval.', deny: 'It is denied.' }[verdict]
  return [
    `${argument} ${why}`,
    `Decided by: ${rule}.`,
    ...(programs.length > 0 ? [`It runs: ${programs.join(', ')}.`] : []),
    ...grants.map(
      ({ covers, scopes = [] }) => `“Always” can cover: ${covers} (${scopes.map(describeScope).join(', ')}).`,
    ),
  ].join('\n')
}

function describeScope(scope: GrantScope): string {
  return { session: 'in the session', project: 'in this project', user: 'everywhere' }[scope]
}

/**
 * A call is written as a rule is: `write_file(src/a.ts)`; with --tool, what stands in the brackets is enough. What is no call
 * is a command for the shell.
 */
function parseProposal(call: string, toolName: string | undefined, folder: string): Proposal {
  if (call.trim() === '')
    throw new UserError("explain which call? for example: dragoman policy explain 'git push', or 'write_file(a.ts)'")
  const [tool, argument] = toolName === undefined ? parseCall(call.trim()) : [toolName, call]
  return { tool, input: {}, effects: listEffects(tool, argument, folder) }
}

/** As in rules, a single word with an underscore is a tool. */
function parseCall(call: string): readonly [tool: string, argument: string] {
  const [, tool, argument = ''] = /^([\w.-]+)\(([^]*)\)$/.exec(call) ?? []
  if (tool !== undefined) return [tool, argument]
  return /^\w+_\w+$/.test(call) ? [call, ''] : [SHELL_TOOL_NAME, call]
}

/** What the tool would do with this argument; nobody knows it of a tool that is not built in. */
function listEffects(name: string, argument: string, folder: string): readonly Effect[] {
  const tool = listAllBuiltins(getMemoryFilePath()).find(({ spec }) => spec.name === name)
  return tool?.effects(tool.ruleInput?.(argument) ?? {}, [folder]) ?? [{ kind: 'unknown' }]
}

function printSafe(text: string): void {
  process.stdout.write(`${sanitizeText(text, 'model-text')}\n`)
}
