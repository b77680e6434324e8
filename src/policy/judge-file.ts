import type { Effect } from './effect.ts'
import { inPlan, type Judged, type Judging } from './judging.ts'
import { folderOf, judgePlace } from './path/place.ts'
import type { Access, Grant } from './policy.ts'
import type { Ruling } from './rule/book.ts'
import { coversPath, isAbout } from './rule/rule.ts'

/** Judges reading or writing a file: by where its path really leads, then by the rules, then by the mode. */
export function judgeFile(effect: Effect & { readonly path: string }, tool: string, judging: Judging): Judged {
  const { mode, places, book } = judging
  const isWrite = effect.kind === 'write'
  if (isWrite && mode === 'plan') return inPlan()
  const need = isWrite ? 'write' : 'read'
  const { kind, path, why, rule } = judgePlace(effect.path, need, places)
  if (kind === 'reject') return { verdict: 'deny', rule, why }
  const folder = folderOf(path, places.folders, places.disk)
  const ruling = book.find(
    (one) => isAbout(one, tool) && (one.path === undefined ? !one.host : coversPath(one, path, folder, places.home)),
  )
  const inside = folderOf(
    path,
    isWrite ? places.folders : [...places.folders, ...(places.readFolders ?? [])],
    places.disk,
  )
  const isOutside = inside === undefined
  // What is written is what was judged, also in the workspace: somebody may put a link in its place meanwhile.
  const isBound = places.disk !== undefined && (isOutside || isWrite)
  const access: readonly Access[] = isBound ? [{ given: effect.path, real: path, need, isOutside }] : []
  const decided = (verdict: Judged['verdict'], by: string, because: string, grants?: readonly Grant[]): Judged => ({
    verdict,
    rule: by,
    why: because,
    ...(grants && { grants }),
    ...(access.length > 0 && { access }),
  })

  if (ruling?.rule.verdict === 'deny')
    return decided('deny', ruling.rule.text, `The rule “${ruling.rule.text}” forbids it.`)
  // Nobody but a person lets these be written, each time: whoever writes them makes the rules.
  const isOwn = effect.kind === 'write' && effect.own === true
  if (!isOwn && (kind === 'protected' || kind === 'instructions')) return decided('ask', rule, why)
  const grants = [...(kind === 'in' && isWrite ? [grantOfTool(tool)] : []), ...grantsOfPath(tool, path)]
  if (kind === 'secret' && !namesPath(ruling)) return decided('ask', rule, why, grants)
  if (ruling?.rule.verdict === 'ask')
    return decided('ask', ruling.rule.text, `The rule “${ruling.rule.text}” asks about it.`)
  if (ruling) return decided('allow', ruling.rule.text, `The rule “${ruling.rule.text}” allows it.`)

  const isIn = kind === 'in'
  if (!isWrite && isIn) return decided('allow', 'reading inside the workspace', 'It only reads.')
  if (mode === 'yolo') return decided('allow', 'mode yolo', 'Everything is allowed.')
  if (isWrite && isIn && mode === 'auto_edit')
    return decided('allow', 'mode auto_edit', 'Edits inside the workspace are allowed.')
  const what = isWrite ? 'changes' : 'reads'
  return decided(
    'ask',
    `mode ${mode}`,
    isIn ? `It ${what} ${path}.` : `It ${what} ${path}, which is outside the workspace.`,
    grants,
  )
}

/** Secrets are read unasked only if a rule of the person's own names their path. */
function namesPath(ruling: Ruling | undefined): boolean {
  if (ruling?.rule.verdict !== 'allow' || ruling.rule.path === undefined) return false
  return ruling.tier !== 'default' && ruling.tier !== 'project' && !ruling.rule.path.includes('**')
}

function grantOfTool(tool: string): Grant {
  return { breadth: 'tool', rules: [`${tool}(**)`], covers: `${tool} in the workspace, but for protected files` }
}

/** A path that would be read as a pattern cannot stand in a rule: it would allow more than this file. */
function grantsOfPath(tool: string, path: string): readonly Grant[] {
  if (/[*?[\]{}()\\!]/.test(path)) return []
  return [{ breadth: 'path', rules: [`${tool}(${path})`], covers: `${tool} of ${path}` }]
}
