import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isTrusted } from '../../config/trust.ts'
import { configFolder } from '../../own/places.ts'
import type { Slash } from './slash.ts'

/**
 * Commands of one's own: a Markdown file `commands/<name>.md` is a prompt, `$ARGUMENTS` in it stands for the words after
 * the name. A project's count only where the folder is trusted.
 */
export function customCommands(folder: string): Slash[] {
  const own = commandsIn(join(configFolder(), 'commands'))
  const project = isTrusted(folder) ? commandsIn(join(folder, '.dragoman', 'commands')) : []
  return [...project, ...own.filter(({ name }) => !project.some((other) => other.name === name))]
}

function commandsIn(place: string): Slash[] {
  return namesIn(place).map((file): Slash => {
    const text = readFileSync(join(place, file), 'utf8')
    const head = /^---\n(?<head>[^]*?)\n---\n(?<rest>[^]*)$/.exec(text)?.groups
    const about = /^description:\s*(?<about>.+)$/m.exec(head?.['head'] ?? '')?.groups?.['about']
    const prompt = (head?.['rest'] ?? text).trim()
    return {
      name: file.slice(0, -'.md'.length),
      about: about ?? prompt.split('\n', 1)[0] ?? '',
      run({ talk }, words) {
        talk.say(
          prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => words) : `${prompt}\n\n${words}`.trim(),
        )
      },
    }
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
