import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isTrusted } from '../../config/trust.ts'
import { configFolder } from '../../own/places.ts'
import { readProjectFile } from '../../own/project-file.ts'
import type { Slash } from './slash.ts'

/**
 * Commands of one's own: a Markdown file `commands/<name>.md` is a prompt, `$ARGUMENTS` in it stands for the words after
 * the name. A project's count only where the folder is trusted.
 */
export function customCommands(folder: string): Slash[] {
  const own = commandsIn(join(configFolder(), 'commands'))
  const project = isTrusted(folder) ? commandsIn(join(folder, '.dragoman', 'commands'), folder) : []
  return [...project, ...own.filter(({ name }) => !project.some((other) => other.name === name))]
}

/** No prompt is longer. */
const MAX_BYTES = 100_000

function commandsIn(place: string, within?: string): Slash[] {
  return namesIn(place).flatMap((file): Slash[] => {
    const limits = { maxBytes: MAX_BYTES, ...(within !== undefined && { within }) }
    const read = readProjectFile(join(place, file), limits)
    // A command that cannot be read, or not whole, is not offered.
    if ('problem' in read || read.isCut) return []
    const { text } = read
    const head = /^---\n(?<head>[^]*?)\n---\n(?<rest>[^]*)$/.exec(text)?.groups
    const about = /^description:\s*(?<about>.+)$/m.exec(head?.['head'] ?? '')?.groups?.['about']
    const prompt = (head?.['rest'] ?? text).trim()
    const slash: Slash = {
      name: file.slice(0, -'.md'.length),
      about: about ?? prompt.split('\n', 1)[0] ?? '',
      run({ talk }, words) {
        talk.say(
          prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => words) : `${prompt}\n\n${words}`.trim(),
        )
      },
    }
    return [slash]
  })
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place)
      .filter((name) => /^[\w-]+\.md$/.test(name))
      .sort()
  } catch {
    return []
  }
}
