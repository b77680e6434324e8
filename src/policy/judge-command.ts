import type { Effect } from './effect.ts'
import { inPlan, type Judged, type Judging, textKey } from './judging.ts'
import { folderOf } from './path/place.ts'
import type { Grant } from './policy.ts'
import { isAbout, type Rule, SHELL } from './rule/rule.ts'
import { judgeShell, type ShellJudgement } from './shell/judge.ts'

/** Judges a command: what is dangerous in every mode, then the rules, then the mode. */
export async function judgeCommand(
  { command, folder }: Effect & { readonly kind: 'exec' },
  tool: string,
  judging: Judging,
): Promise<Judged> {
  const { mode, places, book } = judging
  const isWhole = (rule: Rule) => rule.words === undefined && rule.path === undefined && rule.host === undefined
  const whole = book.find((rule) => isAbout(rule, tool) && isWhole(rule))?.rule
  if (whole?.verdict === 'deny') {
    return { verdict: 'deny', rule: whole.text, why: `The rule “${whole.text}” forbids it.` }
  }
  const shell = await judgeShell(command, folder, judging)
  const { verdict, rule, why, programs } = shell
  const decided = (what: Judged['verdict'], by: string, because: string): Judged => ({
    verdict: what,
    rule: by,
    why: because,
    programs,
    ...(shell.needsNetwork && { needsNetwork: true }),
    ...(what === 'allow' && shell.gitHelpers && { gitHelpers: shell.gitHelpers }),
  })
  const inside = folderOf(folder, places.folders, places.disk) !== undefined

  // Only what is proved harmless runs: the rules of a plan hold no permissions of the person's own.
  if (mode === 'plan' && verdict !== 'deny' && (verdict === 'ask' || !inside || !places.disk)) return inPlan()
  if (shell.firm) return decided(verdict, rule, why)
  if (whole?.verdict === 'ask') return decided('ask', whole.text, `The rule “${whole.text}” asks about it.`)
  if (whole?.verdict === 'allow') return decided('allow', whole.text, `The rule “${whole.text}” allows it.`)
  if (mode === 'yolo') return decided('allow', 'mode yolo', 'Everything is allowed.')
  if (judging.approved.has(textKey(command, folder))) {
    return decided('allow', 'an earlier “always”', 'The person allowed this very command for this session.')
  }
  if (verdict === 'allow' && inside && places.disk) return decided('allow', rule, why)
  const because = verdict === 'allow' ? `It runs in ${folder}, which is outside the workspace.` : why
  return {
    ...decided('ask', verdict === 'allow' ? `mode ${mode}` : rule, because),
    grants: grantsOf(command, shell),
  }
}

/** What “always” may stand for: the subcommand with whatever follows it, and exactly this. */
function grantsOf(command: string, { always, subcommands }: ShellJudgement): Grant[] {
  const broad = subcommands && {
    breadth: 'subcommand' as const,
    rules: subcommands.map((words) => `${SHELL}(${words} *)`),
    covers: `${subcommands.map((words) => `“${words}”`).join(' and ')} with any further arguments that start nothing else`,
  }
  const covers = always
    ? `exactly ${always.map((rule) => `“${rule.replace(/^\w+\(=/, '').slice(0, -1)}”`).join(' and ')}`
    : `exactly the command “${brief(command)}”`
  return [...(broad ? [broad] : []), { breadth: 'exact', rules: always ?? [], covers }]
}

/** A command in words that fit into a sentence: whoever is asked sees it whole beside them. */
function brief(command: string): string {
  const row = command.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  return row.length <= BRIEF ? row : `${row.slice(0, BRIEF - 40)} … ${row.slice(-40)}`
}

const BRIEF = 160
