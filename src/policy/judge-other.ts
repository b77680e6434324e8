import type { Effect } from './effect.ts'
import type { Judged, Judging } from './judging.ts'
import { inPlan } from './judging.ts'
import { coversHost, isAbout, type Rule } from './rule/rule.ts'

/** Judges reaching a host: by the rules, then by the mode. */
export function judgeNet(effect: Effect & { readonly kind: 'net' }, tool: string, judging: Judging): Judged {
  const about = (rule: Rule) => isAbout(rule, tool) && (rule.host === undefined || coversHost(rule, effect.host))
  return judgeBy(about, judging, `It reaches ${effect.host} over the network.`, {
    rule: tool === 'web_fetch' ? `${tool}(${effect.host})` : tool,
    covers: tool === 'web_fetch' ? `${tool} from ${effect.host}` : tool,
  })
}

/** Judges a tool of which nobody has said what it does. */
export function judgeUnknown(tool: string, judging: Judging): Judged {
  const about = (rule: Rule) => isAbout(rule, tool) && rule.host === undefined && rule.path === undefined
  return judgeBy(about, judging, 'Nobody has said what it does.', { rule: tool, covers: tool })
}

function judgeBy(
  about: (rule: Rule) => boolean,
  { mode, book }: Judging,
  why: string,
  always: { readonly rule: string; readonly covers: string },
): Judged {
  if (mode === 'plan') return inPlan()
  const found = book.find(about)?.rule
  const how = { allow: 'allows', ask: 'asks about', deny: 'forbids' } as const
  if (found) {
    return { verdict: found.verdict, rule: found.text, why: `The rule “${found.text}” ${how[found.verdict]} it.` }
  }
  if (mode === 'yolo') return { verdict: 'allow', rule: 'mode yolo', why: 'Everything is allowed.' }
  return { verdict: 'ask', rule: `mode ${mode}`, why, always: [always] }
}
