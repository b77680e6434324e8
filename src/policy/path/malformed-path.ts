import { findHiddenCharacter } from '../text/confusable-name.ts'

/** Checks the text of a path without accessing the disk. `visiblePart` must not contain hidden characters. */
export function findPathProblem(
  path: string,
  need: 'read' | 'write',
  platform = 'linux',
  visiblePart = path,
): string | undefined {
  if (path.includes('\0')) return 'The path contains a zero byte.'
  if (new TextEncoder().encode(path).length > 4096 || path.split('/').some((segment) => segment.length > 255)) {
    return 'The path is longer than any disk allows.'
  }
  const hidden =
    need === 'write' ? findHiddenCharacter(visiblePart, { allowLines: false, allowRawBytes: true }) : undefined
  if (hidden !== undefined) return `The path contains ${hidden}, which is invisible.`
  return platform === 'windows' || platform === 'win32' ? findWindowsPathProblem(path) : undefined
}

function findWindowsPathProblem(path: string): string | undefined {
  if (/^[a-z]:/i.test(path) || /^[/\\]{2}/.test(path) || /^[/\\][a-z](?:[/\\]|$)/i.test(path)) {
    return 'The path names a drive or a device.'
  }
  const device = path.split(/[/\\]/).some((segment) => /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(segment.trim()))
  return device ? 'The path names a device.' : undefined
}
