import type { Effect } from './effect.ts'
import type { Always, Judged, Judging } from './judging.ts'
import { inPlan } from './judging.ts'
import { folderOf, judgePlace } from './path/place.ts'
import type { Ruling } from './rule/book.ts'
import { coversPath, isAbout } from './rule/rule.ts'

/** Judges reading or writing a file: by where its path really leads, then by the rules, then by the mode. */
export function judgeFile(effect: Effect & { readonly path: string }, tool: string, judging: Judging): Judged {
  const { mode, places, book } = judging
  const isWrite = effect.kind === 'write'
  if (isWrite && mode === 'plan') return inPlan()
  const { kind, path, why, rule } = judgePlace(effect.path, isWrite ? 'write' : 'read', places)
  const folder = folderOf(path, places.folders, places.disk)
  const ruling = book.find(
    (one) => isAbout(one, tool) && (one.path === undefined ? !one.host : coversPath(one, path, folder, places.home)),
  )
  const decided = (verdict: Judged['verdict'], by: string, because: string, always?: Always): Judged => ({
    verdict,
    rule: by,
    why: because,
    ...(always && { always: [always] }),
  })

  if (ruling?.rule.verdict === 'deny')
    return decided('deny', ruling.rule.text, `The rule “${ruling.rule.text}” forbids it.`)
  // Nobody but a person lets these be written, each time: whoever writes them makes the rules.
  const isOwn = effect.kind === 'write' && effect.own === true
  if (!isOwn && (kind === 'protected' || kind === 'instructions')) return decided('ask', rule, why)
  const always = alwaysOf(tool, kind === 'in' && isWrite ? undefined : path)
  if (kind === 'secret' && !namesPath(ruling)) return decided('ask', rule, why, always)
  if (ruling?.rule.verdict === 'ask')
    return decided('ask', ruling.rule.text, `The rule “${ruling.rule.text}” asks about it.`)
  if (ruling) return decided('allow', ruling.rule.text, `The rule “${ruling.rule.text}” allows it.`)

  const inside = kind === 'in' || kind === 'reject'
  if (!isWrite && inside) return decided('allow', 'reading inside the workspace', 'It only reads.')
  if (mode === 'yolo') return decided('allow', 'mode yolo', 'Everything is allowed.')
  if (isWrite && inside && mode === 'auto_edit')
    return decided('allow', 'mode auto_edit', 'Edits inside the workspace are allowed.')
  const what = isWrite ? 'changes' : 'reads'
  return decided(
    'ask',
    `mode ${mode}`,
    inside ? `It ${what} ${path}.` : `It ${what} ${path}, which is outside the workspace.`,
    always,
  )
}

/** Secrets are read unasked only if a rule of the person's own names their path. */
function namesPath(ruling: Ruling | undefined): boolean {
  if (ruling?.rule.verdict !== 'allow' || ruling.rule.path === undefined) return false
  return ruling.tier !== 'default' && ruling.tier !== 'project' && !ruling.rule.path.includes('**')
}

function alwaysOf(tool: string, path: string | undefined): Always {
  return path === undefined
    ? { rule: `${tool}(**)`, covers: `${tool} in the workspace, but for protected files` }
    : { rule: `${tool}(${path})`, covers: `${tool} of ${path}` }
}
