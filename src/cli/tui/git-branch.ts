import { dirname, join, resolve } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'

/** The branch that is checked out, from the files of git: starting git would take longer than drawing the first screen. */
export function readGitBranch(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const pointer = /^gitdir: (.+)/.exec(readText(join(at, '.git')))?.[1]
    const head = readText(join(pointer === undefined ? join(at, '.git') : resolve(at, pointer), 'HEAD'))
    if (head !== '') return BRANCH_HEAD.exec(head)?.[1]
    if (at === dirname(at)) return undefined
  }
}

/** Git allows no other characters in names. */
const BRANCH_HEAD = /^ref: refs\/heads\/([^\s\p{C}~^:?*[\\]+)\n?$/u

function readText(path: string): string {
  const content = readRegularFile(path, { maxBytes: 4096 })
  return 'bytes' in content ? content.bytes.toString('utf8') : ''
}
