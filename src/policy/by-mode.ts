import type { Effect } from './effect.ts'
import type { ApprovalMode, Decision, Policy, Proposal, Verdict } from './policy.ts'

/** What decides: how freely the agent may act, where it works, and what was allowed beforehand. */
export interface ModeRules {
  readonly mode: ApprovalMode
  /** The folders that it may read and change. */
  readonly folders: readonly string[]
  /** Tools that run unasked: `read_file`, or `run_shell_command(git status)` for a command and all that begins with it. */
  readonly allowed?: readonly string[]
}

/** A policy by mode: looking is free inside the folders, changing asks or not as the mode says, and in plan mode nothing changes. */
export function policyByMode({ mode, folders, allowed = [] }: ModeRules): Policy {
  const always = new Set<string>()

  return {
    decide(proposal) {
      const given = allowed.find((rule) => covers(rule, proposal))
      if (mode !== 'plan' && given !== undefined)
        return decision('allow', `--allowed-tools ${given}`, 'It was allowed beforehand.')
      if (mode !== 'plan' && always.has(keyOf(proposal)))
        return decision('allow', 'an earlier “always”', 'The person allowed it for this session.')
      const judged = proposal.effects.map((effect) => judge(effect, mode, folders))
      return worst(judged) ?? decision('allow', 'no effects', 'It touches nothing.')
    },
    remember(proposal) {
      always.add(keyOf(proposal))
      return `From now on in this session: ${inWords(proposal)} without asking.`
    },
  }
}

function judge(effect: Effect, mode: ApprovalMode, folders: readonly string[]): Decision {
  const rule = `mode ${mode}`
  if (effect.kind === 'read') {
    if (folders.some((folder) => isInside(effect.path, folder)))
      return decision('allow', 'reading inside the workspace', 'It only reads.')
    return decision(mode === 'yolo' ? 'allow' : 'ask', rule, `It reads ${effect.path}, which is outside the workspace.`)
  }
  if (mode === 'plan') return decision('deny', rule, 'In plan mode nothing is changed, run or fetched.')
  if (mode === 'yolo') return decision('allow', rule, 'Everything is allowed.')
  if (effect.kind === 'write') {
    const inside = folders.some((folder) => isInside(effect.path, folder))
    if (mode === 'auto_edit' && inside) return decision('allow', rule, 'Edits inside the workspace are allowed.')
    return decision(
      'ask',
      rule,
      inside ? `It changes ${effect.path}.` : `It changes ${effect.path}, which is outside the workspace.`,
    )
  }
  if (effect.kind === 'exec') return decision('ask', rule, `It runs a command: ${effect.command}`)
  if (effect.kind === 'net') return decision('ask', rule, `It reaches ${effect.host} over the network.`)
  return decision('ask', rule, 'Nobody has said what it does.')
}

function worst(decisions: readonly Decision[]): Decision | undefined {
  const order: readonly Verdict[] = ['deny', 'ask', 'allow']
  return order.map((verdict) => decisions.find((one) => one.verdict === verdict)).find((one) => one !== undefined)
}

function covers(rule: string, { tool, effects }: Proposal): boolean {
  const [, name = rule, prefix] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? []
  if (name.trim() !== tool) return false
  if (prefix === undefined) return true
  // A plain prefix of the text proves nothing about a shell: anything that could begin a second command is asked about.
  const commands = effects.flatMap((effect) => (effect.kind === 'exec' ? [effect.command] : []))
  return commands.length > 0 && commands.every((command) => isPlain(command) && startsWithWords(command, prefix))
}

function isPlain(command: string): boolean {
  return /^[\w\s./:=@,+-]*$/.test(command) && !command.includes('\n')
}

function startsWithWords(command: string, prefix: string): boolean {
  const words = command.trim().split(/\s+/)
  return prefix
    .trim()
    .split(/\s+/)
    .every((word, at) => words[at] === word)
}

/** What an “always” covers: a tool as a whole; of the shell, only this very command. */
function keyOf({ tool, effects }: Proposal): string {
  const commands = effects.flatMap((effect) => (effect.kind === 'exec' ? [effect.command] : []))
  return JSON.stringify([tool, commands])
}

function inWords({ tool, effects }: Proposal): string {
  const command = effects.find((effect) => effect.kind === 'exec')
  return command?.kind === 'exec' ? `the command “${command.command}” runs` : `${tool} runs`
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

function decision(verdict: Verdict, rule: string, why: string): Decision {
  return { verdict, rule, why }
}
