import { join, resolve } from 'node:path'
import { setTrust, trustOf, watchedFiles } from '../config/trust.ts'
import { Complaint } from '../exit.ts'
import { visible } from '../output/visible.ts'
import { readProjectFile } from '../own/project-file.ts'

const SAID: Readonly<Record<string, boolean | undefined>> = { '--yes': true, '--refuse': false, '--forget': undefined }

/** `dragoman trust`: whether the settings of a project are used. */
export function trustCommand(args: readonly string[]): void {
  const [option, ...more] = args
  if (more.length > 0 || (option !== undefined && !Object.hasOwn(SAID, option)))
    throw new Complaint(`dragoman trust takes --yes, --refuse or --forget, not “${args.join(' ')}”`)
  const folder = resolve('.')
  if (option === undefined) return void process.stdout.write(`${shown(folder)}\n`)
  setTrust(folder, SAID[option])
  process.stdout.write(`${folder}: ${STATE[trustOf(folder)]}\n`)
}

const STATE = {
  unknown: 'not trusted yet',
  trusted: 'trusted, as it is now',
  changed: 'was trusted, but has changed since',
  refused: 'not trusted, as you said',
}

const MAX_BYTES = 2 ** 20

function shown(folder: string): string {
  const files = watchedFiles(folder)
  const texts = files.map((path) => {
    const read = readProjectFile(join(folder, path), { within: folder, maxBytes: MAX_BYTES })
    const text =
      'text' in read ? `${read.text.trimEnd()}${read.isCut ? '\n[cut here]' : ''}` : `[it ${read.problem ?? 'is gone'}]`
    return `--- ${visible(path)}\n${visible(text)}`
  })
  const what = files.length === 0 ? ['It has no settings of its own.'] : texts
  return [`${folder}: ${STATE[trustOf(folder)]}`, ...what, 'dragoman trust --yes trusts this; --refuse does not.'].join(
    '\n',
  )
}
