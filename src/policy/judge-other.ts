import type { Effect, ForeignTool } from './effect.ts'
import { inPlan, type Judged, type Judging } from './judging.ts'
import type { Grant } from './policy.ts'
import { coversHost, isAbout, type Rule, wholeTool } from './rule/rule.ts'

/** Judges reaching a host: by the rules, then by the mode. */
export function judgeNet(effect: Effect & { readonly kind: 'net' }, tool: string, judging: Judging): Judged {
  const about = (rule: Rule) => isAbout(rule, tool) && (rule.host === undefined || coversHost(rule, effect.host))
  const host = `${tool}(${effect.host})`
  return judgeBy(about, judging, `It reaches ${effect.host} over the network.`, [
    // Where the model names the address, the host is what is allowed; where the tool does, the tool.
    effect.urls ? { breadth: 'host', rules: [host], covers: `${tool} from ${effect.host}` } : grantOfTool(tool),
  ])
}

/** A plan needs a person, and there is one only in plan mode. */
export function judgePlan({ mode }: Judging): Judged {
  if (mode === 'plan') return { verdict: 'ask', rule: 'mode plan', why: 'It is carried out when you approve it.' }
  return { verdict: 'deny', rule: `mode ${mode}`, why: 'Plan mode is not on, so there is no plan to approve.' }
}

/** Judges a tool of which nobody has said what it does. */
export function judgeUnknown(effect: Effect & { readonly kind: 'unknown' }, tool: string, judging: Judging): Judged {
  const isWhole = (rule: Rule) => rule.host === undefined && rule.path === undefined
  if (judging.mode === 'plan') return inPlan()
  if (effect.of) return judgeForeign(effect.of, tool, isWhole, judging)
  const about = (rule: Rule) => isWhole(rule) && isAbout(rule, tool)
  return judgeBy(about, judging, 'Nobody has said what it does.', [grantOfTool(tool)])
}

function grantOfTool(tool: string): Grant {
  return { breadth: 'tool', rules: [wholeTool(tool)], covers: `${tool}, whatever its arguments` }
}

function judgeForeign(of: ForeignTool, tool: string, isWhole: (rule: Rule) => boolean, judging: Judging): Judged {
  const name = `${of.server}__${of.tool}`
  // A server chooses what its tools are called; so a rule allows one only by a name with the server in it.
  const about = (rule: Rule) =>
    isWhole(rule) && (isAbout(rule, name) || (rule.verdict !== 'allow' && isAbout(rule, tool)))
  const grants = foreignGrants(of, name)
  const judged = judgeBy(about, judging, `Nobody has said what it does but the server ${of.server} itself.`, grants)
  if (judged.verdict === 'ask' && judged.grants && of.trusted) {
    return { verdict: 'allow', rule: `server ${of.server}`, why: `The server ${of.server} is trusted.` }
  }
  if (!of.changed || judged.verdict === 'deny') return judged
  const why = 'It is not any more what it was when you allowed it: look at what has changed.'
  return { verdict: 'ask', rule: 'changed tool', why }
}

/** A name that would be read as a pattern cannot stand in a rule: it would allow more than this tool. */
function foreignGrants({ server, tool }: ForeignTool, name: string): readonly Grant[] {
  const whole = `all tools of the server ${server}, whatever their arguments`
  return [
    ...(/^[\w.-]+$/.test(tool)
      ? [{ breadth: 'tool', rules: [name], covers: `${tool} of the server ${server}, whatever its arguments` } as const]
      : []),
    { breadth: 'server', rules: [`${server}__*`], covers: whole },
  ]
}

function judgeBy(
  about: (rule: Rule) => boolean,
  { mode, book }: Judging,
  why: string,
  grants: readonly Grant[],
): Judged {
  const found = book.find(about)?.rule
  const how = { allow: 'allows', ask: 'asks about', deny: 'forbids' } as const
  if (found) {
    return { verdict: found.verdict, rule: found.text, why: `The rule “${found.text}” ${how[found.verdict]} it.` }
  }
  if (mode === 'yolo') return { verdict: 'allow', rule: 'mode yolo', why: 'Everything is allowed.' }
  return { verdict: 'ask', rule: `mode ${mode}`, why, grants }
}
