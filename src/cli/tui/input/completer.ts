import { listResourceNames } from '../mcp-prompts-and-resources.ts'
import { createProjectFiles } from '../mention/project-files.ts'
import type { AppParts } from '../app-parts.ts'
import { type ArgumentChoices, type CompletionSources, findCompletions } from './completion.ts'

export type Completer = ReturnType<typeof createCompleter>

type CompleterParts = Pick<AppParts, 'ui' | 'folder' | 'session' | 'commands'> & { readonly app: () => AppParts }

/** Keeps the list of completions below the input up to date. */
export function createCompleter({ ui, folder, session, commands, app }: CompleterParts) {
  const files = createProjectFiles(folder)
  const argumentChoices = new Map<string, ArgumentChoices>()
  let lastTyped = '\0'
  const sources: CompletionSources = {
    commands: () =>
      commands.list().map(({ name, about, aliases = [] }) => ({
        value: `/${name}`,
        about,
        aliases: aliases.map((alias) => `/${alias}`),
      })),
    files: (typed) => {
      // Once for each mention: a key must not cost a walk through the project. Several keys may come at once.
      const isSameMention = typed !== '' && (typed.startsWith(lastTyped) || lastTyped.startsWith(typed))
      if (!isSameMention || files.paths.length === 0) refreshFiles()
      lastTyped = typed
      return [...files.paths, ...listResourceNames(session.servers)]
    },
    commandArguments: (name) => argumentChoices.get(name) ?? void loadArguments(name),
  }

  async function loadArguments(name: string): Promise<void> {
    const command = commands.find(name)
    if (!command?.choices) return
    argumentChoices.set(name, { items: [] })
    // Choices that cannot be found out are not offered: typing must not cause an error message.
    const load = async () => (await command.choices?.(app())) ?? []
    const items = await load().catch(() => [])
    argumentChoices.set(name, { items, ...(command.allowsOtherValues && { allowsOthers: true }) })
    update()
  }

  /** Lists the files of the project again: they may change while the model works. */
  function refreshFiles(): void {
    void files.refresh().then((hasChanged) => hasChanged && update())
  }

  /** Shows what fits the word before the cursor. */
  function update(): void {
    ui.update((state) => {
      const menu = findCompletions(state.editor, sources)
      const { menu: previous, ...rest } = state
      if (!menu) return rest
      // The selected item stays selected when the list gets longer.
      const at = menu.items.findIndex(({ value }) => value === previous?.items[previous.selected]?.value)
      return { ...rest, menu: { ...menu, selected: Math.max(at, 0) } }
    })
  }

  // Forgotten choices are found out again when the next command is typed.
  return { update, forgetArguments: () => argumentChoices.clear() }
}
