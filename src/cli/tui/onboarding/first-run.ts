import { findLocalModel } from '../../../provider/resolve-model.ts'
import { probeJson } from '../../../provider/http/node-http-client.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { userConfigPath } from '../../config/read-settings.ts'
import type { Config } from '../../config/schema.ts'
import { updateUserConfig } from '../../config/update-settings.ts'
import { abbreviateHome } from '../../paths/folders.ts'
import { setTrust, readTrustState, listTrustRelevantFiles } from '../../config/trust.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { detectModel, listProviders } from '../../setup/choose-model.ts'
import { findKeyProvider } from './api-key-format.ts'
import { chooseFromList } from './list-dialog.ts'
import { styledLine } from '../term/styled-line.ts'
import type { ThemeName } from '../term/theme.ts'

/** What a person chose when there was no model yet. */
export type FirstRunChoice = { readonly model: string } | { readonly tour: true } | undefined

/** The first page: no key is no error, there are three ways on. What went wrong before stands above them. */
export async function chooseFirstModel(config: Config, theme: ThemeName, problem?: string): Promise<FirstRunChoice> {
  const local = await findLocalModel(probeJson, listProviders(config), process.env)
  const selected = await chooseFromList<'local' | 'key' | 'tour' | 'server' | { readonly key: string }>(
    [
      ...(problem === undefined ? [] : [styledLine(escapeForTerminal(problem), 'warn'), []]),
      styledLine('Dragoman works on your code with whatever model you have.', 'strong'),
      styledLine('There is no key here yet. Three ways on:'),
      [],
    ],
    [
      ...(local === undefined
        ? []
        : [{ value: 'local' as const, label: `Use ${escapeForTerminal(local)}`, about: 'it answers on this machine' }]),
      {
        value: 'key' as const,
        label: 'Paste a key',
        about: 'tried once, and kept where only you can read',
      },
      { value: 'tour' as const, label: 'Take the tour', about: 'two minutes, scripted, no key, no network' },
      ...(local === undefined
        ? [
            {
              value: 'server' as const,
              label: 'How do I use a local model?',
              about: 'Ollama, LM Studio, llama.cpp, vLLM',
            },
          ]
        : []),
    ],
    theme,
    (key) => ({ key }),
  )
  if (selected === 'local' && local !== undefined) {
    // The choice holds from now on: nobody wants this page with every start.
    updateUserConfig((own) => ({ ...own, model: local }))
    process.stdout.write(
      `${escapeForTerminal(local)} is your model from now on; /model changes it for a session, “model” in ${abbreviateHome(userConfigPath())} for good.\n`,
    )
    return { model: local }
  }
  if (selected === 'tour') return { tour: true }
  if (selected === 'server') {
    process.stdout.write(LOCAL_SERVER_HELP)
    return undefined
  }
  if (selected !== 'key' && typeof selected !== 'object') return undefined
  // Whoever goes back, or gave a key that does not work, stands before the same ways again.
  const pasted = await promptForKey(config, theme, typeof selected === 'object' ? selected.key : undefined)
  return pasted && 'model' in pasted ? pasted : chooseFirstModel(config, theme, pasted?.problem)
}

const LOCAL_SERVER_HELP = `Start the server, then run dragoman again: it is found on its usual port.
  Ollama:     ollama serve, and ollama pull qwen3
  LM Studio:  load a model and switch the server on
  llama.cpp:  llama-server -m model.gguf --jinja
  vLLM:       vllm serve <model> --enable-auto-tool-choice \\
                --tool-call-parser <parser>
`

async function promptForKey(
  config: Config,
  theme: ThemeName,
  pastedKey: string | undefined,
): Promise<{ model: string } | { problem: string } | undefined> {
  const keyProviders = listProviders(config).filter(
    ({ auth, port, model, keys, wire }) =>
      auth !== 'none' && port === undefined && model !== undefined && keys.length > 0 && wire !== 'code-assist',
  )
  const keyProvider = pastedKey === undefined ? undefined : findKeyProvider(pastedKey)
  const knownProvider = keyProviders.find(({ id }) => id === keyProvider)?.id
  const chosen =
    knownProvider ??
    (await chooseFromList<string | { readonly key: string }>(
      [styledLine('Whose key is it?', 'strong')],
      keyProviders.map(({ id, keys }) => ({ value: id, label: id, about: keys[0] ?? '' })),
      theme,
      (key) => ({ key }),
    ))
  if (chosen === undefined) return undefined
  // A key where the name of its vendor was asked for: it says itself whose it is, or that is asked again.
  if (typeof chosen === 'object') return promptForKey(config, theme, chosen.key)
  if (pastedKey !== undefined) process.stdout.write(`The key for ${chosen} is tried.\n`)
  try {
    await (await import('../../command/login/login.ts')).runLoginCommand([chosen], pastedKey)
  } catch (error) {
    if (!(error instanceof UserError) || error.exitCode === EXIT_CODE.interrupted) throw error
    return { problem: `Error: ${error.message}` }
  }
  const model = await detectModel(config)
  return model === undefined ? undefined : { model }
}

/** Asks once whether the settings of a folder may be used, and says what that means. */
export async function promptForTrust(folder: string, theme: ThemeName): Promise<void> {
  const state = readTrustState(folder)
  const files = listTrustRelevantFiles(folder)
  if (files.length === 0 || (state !== 'unknown' && state !== 'changed')) return
  const answer = await chooseFromList(
    [
      styledLine(
        `This folder has settings of its own${state === 'changed' ? ', and they have changed since you trusted them' : ''}:`,
        'strong',
      ),
      ...files.map((file) => styledLine(`  ${escapeForTerminal(file)}`)),
      styledLine('Trusted, they can choose the model and its address, start tool servers and allow commands unasked.'),
      styledLine(
        'Not trusted, Dragoman works here all the same, without them. dragoman trust shows what is in them.',
        'quiet',
      ),
      [],
    ],
    [
      { value: false, label: 'Go on without them' },
      { value: true, label: 'Trust them, as they are now' },
    ],
    theme,
  )
  if (answer !== undefined) setTrust(folder, answer)
}
