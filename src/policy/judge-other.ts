import type { Effect, ForeignTool } from './effect.ts'
import type { Judged, Judging } from './judging.ts'
import { inPlan } from './judging.ts'
import { coversHost, isAbout, type Rule, wholeTool } from './rule/rule.ts'

/** Judges reaching a host: by the rules, then by the mode. */
export function judgeNet(effect: Effect & { readonly kind: 'net' }, tool: string, judging: Judging): Judged {
  const about = (rule: Rule) => isAbout(rule, tool) && (rule.host === undefined || coversHost(rule, effect.host))
  return judgeBy(about, judging, `It reaches ${effect.host} over the network.`, {
    rule: tool === 'web_fetch' ? `${tool}(${effect.host})` : wholeTool(tool),
    covers: tool === 'web_fetch' ? `${tool} from ${effect.host}` : tool,
  })
}

/** Judges a tool of which nobody has said what it does. */
export function judgeUnknown(effect: Effect & { readonly kind: 'unknown' }, tool: string, judging: Judging): Judged {
  const isWhole = (rule: Rule) => rule.host === undefined && rule.path === undefined
  if (effect.of) return judgeForeign(effect.of, tool, isWhole, judging)
  const about = (rule: Rule) => isWhole(rule) && isAbout(rule, tool)
  return judgeBy(about, judging, 'Nobody has said what it does.', { rule: wholeTool(tool), covers: tool })
}

function judgeForeign(of: ForeignTool, tool: string, isWhole: (rule: Rule) => boolean, judging: Judging): Judged {
  const name = `${of.server}__${of.tool}`
  // A server chooses what its tools are called; so a rule allows one only by a name with the server in it.
  const about = (rule: Rule) =>
    isWhole(rule) && (isAbout(rule, name) || (rule.verdict !== 'allow' && isAbout(rule, tool)))
  const always = { rule: name, covers: `${of.tool} of the server ${of.server}` }
  const judged = judgeBy(about, judging, `Nobody has said what it does but the server ${of.server} itself.`, always)
  if (judged.verdict === 'ask' && judged.always && of.trusted) {
    return { verdict: 'allow', rule: `server ${of.server}`, why: `The server ${of.server} is trusted.` }
  }
  if (!of.changed || judged.verdict === 'deny') return judged
  const why = 'It is not any more what it was when you allowed it: look at what has changed.'
  return { verdict: 'ask', rule: 'changed tool', why, always: [always] }
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
