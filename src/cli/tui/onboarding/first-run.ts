import { findLocalModel, probeJson } from '../../../provider/index.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { getUserConfigPath } from '../../config/read-settings.ts'
import type { Config } from '../../config/schema.ts'
import { updateUserConfig } from '../../config/update-settings.ts'
import { abbreviateHome } from '../../paths/folders.ts'
import { readFolderTrust, saveFolderTrust } from '../../config/folder-trust.ts'
import { describeProjectFiles } from '../../config/describe-project-files.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { detectModel, listProviders } from '../../setup/choose-model.ts'
import { findKeyProvider } from './api-key-format.ts'
import { chooseFromList, type ListItem } from './list-dialog.ts'
import { styledLine } from '../term/styled-line.ts'
import type { ThemeName } from '../term/theme.ts'

type FirstRunItem = 'local' | 'key' | 'tour' | 'server' | { readonly key: string }

type FirstRunChoice = { readonly model: string } | { readonly tour: true } | undefined

/** The first page, if no model is configured. `problem` is what went wrong with the last choice. */
export async function chooseFirstModel(config: Config, theme: ThemeName, problem?: string): Promise<FirstRunChoice> {
  const local = await findLocalModel(probeJson, listProviders(config), process.env)
  const items: readonly (ListItem<FirstRunItem> | false)[] = [
    local !== undefined && {
      value: 'local',
      label: `Use ${escapeForTerminal(local)}`,
      about: 'running on this machine',
    },
    { value: 'key', label: 'Paste an API key', about: 'checked with the provider and stored in a private file' },
    { value: 'tour', label: 'Take the tour', about: 'two minutes, scripted, no key, no network' },
    local === undefined && {
      value: 'server',
      label: 'How do I use a local model?',
      about: 'Ollama, LM Studio, llama.cpp, vLLM',
    },
  ]
  const selected = await chooseFromList<FirstRunItem>(
    [
      ...(problem === undefined ? [] : [styledLine(escapeForTerminal(problem), 'warn'), []]),
      styledLine('Dragoman works on your code with the model of your choice.', 'strong'),
      styledLine('No API key found. Choose how to continue:'),
      [],
    ],
    items.filter((item) => item !== false),
    theme,
    (key) => ({ key }),
  )
  if (selected === 'local' && local !== undefined) {
    // The choice is saved, so that this page does not come with every start.
    updateUserConfig((own) => ({ ...own, model: local }))
    process.stdout.write(
      `${escapeForTerminal(local)} is now the default model. Change it with /model, or under “model” in ${abbreviateHome(getUserConfigPath())}.\n`,
    )
    return { model: local }
  }
  if (selected === 'tour') return { tour: true }
  if (selected === 'server') {
    process.stdout.write(LOCAL_SERVER_HELP)
    return undefined
  }
  if (selected !== 'key' && typeof selected !== 'object') return undefined
  // After going back, or after a key that does not work, the same page is shown again.
  const pasted = await promptForKey(config, theme, typeof selected === 'object' ? selected.key : undefined)
  return pasted && 'model' in pasted ? pasted : chooseFirstModel(config, theme, pasted?.problem)
}

const LOCAL_SERVER_HELP = `Start the server, then run dragoman again: it finds the server on its default port.
  Ollama:     ollama serve, and ollama pull qwen3
  LM Studio:  load a model and switch the server on
  llama.cpp:  llama-server -m model.gguf --jinja
  vLLM:       vllm serve <model> --enable-auto-tool-choice \\
                --tool-call-parser <parser>
`

type KeyResult = { model: string } | { problem: string } | undefined

async function promptForKey(config: Config, theme: ThemeName, pastedKey: string | undefined): Promise<KeyResult> {
  const keyProviders = listProviders(config).filter(
    ({ auth, port, model, keys, wire }) =>
      auth !== 'none' && port === undefined && model !== undefined && keys.length > 0 && wire !== 'code-assist',
  )
  const keyProvider = pastedKey === undefined ? undefined : findKeyProvider(pastedKey)
  const knownProvider = keyProviders.find(({ id }) => id === keyProvider)?.id
  const chosen =
    knownProvider ??
    (await chooseFromList<string | { readonly key: string }>(
      [styledLine('Which provider is this key for?', 'strong')],
      keyProviders.map(({ id, keys }) => ({ value: id, label: id, about: keys[0] ?? '' })),
      theme,
      (key) => ({ key }),
    ))
  if (chosen === undefined) return undefined
  // A key was pasted instead of a provider's name.
  if (typeof chosen === 'object') return promptForKey(config, theme, chosen.key)
  if (pastedKey !== undefined) process.stdout.write(`Checking the key for ${chosen} …\n`)
  try {
    await (await import('../../command/login/login.ts')).runLoginCommand([chosen], pastedKey)
  } catch (error) {
    if (!(error instanceof UserError) || error.exitCode === EXIT_CODE.interrupted) throw error
    return { problem: `Error: ${error.message}` }
  }
  const model = await detectModel(config)
  return model === undefined ? undefined : { model }
}

/** Asks once whether the settings of a folder are trusted. */
export async function promptForTrust(folder: string, theme: ThemeName): Promise<void> {
  const { state, files } = readFolderTrust(folder)
  if (files.every(({ status }) => status === 'removed') || (state !== 'unknown' && state !== 'changed')) return
  const changed = state === 'changed' ? ', which have changed since you trusted them' : ''
  const answer = await chooseFromList(
    [
      styledLine(`This folder has project files that can act${changed}:`, 'strong'),
      ...describeProjectFiles(files).map((line) => styledLine(`  ${escapeForTerminal(line)}`)),
      styledLine(
        'If trusted, they can choose the model and its URL, start programs (MCP servers, hooks) and allow commands without approval.',
      ),
      styledLine('If not, Dragoman ignores them. Run dragoman trust to see what is in them.', 'quiet'),
      [],
    ],
    [
      { value: false, label: 'Continue without them' },
      { value: true, label: 'Trust them in their current state' },
    ],
    theme,
  )
  if (answer !== undefined) saveFolderTrust(folder, answer)
}
