import { readFileSync } from 'node:fs'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { createUndoPlan } from '../../../session/undo-plan.ts'
import { createUnifiedDiff } from '../../../tool/text/diff.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import type { AppParts } from '../app-parts.ts'
import { type StyledLine, styledLine } from '../term/styled-line.ts'
import { countDiffLines, renderDiff } from '../view/diff.ts'
import { toRootRelativePath } from '../view/display-path.ts'

/** `/diff`: what this session has changed in files, by its tools and, where that is kept, by its commands. */
export async function showSessionDiff({ ui, session, folder }: AppParts): Promise<void> {
  const store = jsonlStore(getSessionsFolder(folder))
  const plan = createUndoPlan(session.agent.session.entries, 1)
  const lines: StyledLine[] = []
  let [added, removed, files] = [0, 0, 0]
  for (const { path, before } of plan?.steps ?? []) {
    const old = before && (await store.getBlob(before.blob))
    const now = tryOrUndefined(() => readFileSync(path))
    const name = toRootRelativePath(folder, path)
    const state = !before ? 'new' : !now ? 'removed' : 'changed'
    if (old ? now?.equals(old) : !now) continue
    files++
    lines.push([], styledLine(escapeForTerminal(`${state} ${name}`, 'file-name'), 'strong'))
    if ([old, now].some((bytes) => bytes?.subarray(0, 8000).includes(0))) {
      lines.push(styledLine('  not text', 'quiet'))
      continue
    }
    const [previous, current] = [old, now].map((bytes) => (bytes ? Buffer.from(bytes).toString('utf8') : ''))
    const diff = createUnifiedDiff(name, previous ?? '', current ?? '')
    const counts = countDiffLines(diff)
    added += counts.added
    removed += counts.removed
    lines.push(...limit(renderDiff(escapeForTerminal(diff, 'diff'), ui.viewOptions.width - 2)))
  }
  if (files === 0)
    return ui.notify('This session has changed no files. !git diff shows the changes against the last commit.')
  ui.print([...lines, [], styledLine(`${files === 1 ? '1 file' : `${files} files`}, +${added} −${removed}`, 'quiet')])
}

const MAX_FILE_LINES = 200

function limit(lines: readonly StyledLine[]): StyledLine[] {
  if (lines.length <= MAX_FILE_LINES) return [...lines]
  return [...lines.slice(0, MAX_FILE_LINES), styledLine(`… ${lines.length - MAX_FILE_LINES} more lines`, 'quiet')]
}
