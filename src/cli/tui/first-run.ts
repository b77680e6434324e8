import { findLocal } from '../../provider/resolve.ts'
import { probe } from '../../provider/send.ts'
import { Complaint, EXIT } from '../exit.ts'
import { userConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { changeUserConfig } from '../config/write.ts'
import { tilde } from '../own/places.ts'
import { setTrust, trustOf, watchedFiles } from '../config/trust.ts'
import { visible } from '../output/visible.ts'
import { configuredModel, rowsWith } from '../setup/model.ts'
import { ownerOf } from './pasted-key.ts'
import { pick } from './pick.ts'
import { line } from './term/line.ts'
import type { ThemeName } from './term/theme.ts'

/** What a person chose when there was no model yet. */
export type Beginning = { readonly model: string } | { readonly tour: true } | undefined

/** The first page: no key is no error, there are three ways on. What went wrong before stands above them. */
export async function firstRun(config: Config, theme: ThemeName, problem?: string): Promise<Beginning> {
  const local = await findLocal(probe, rowsWith(config), process.env)
  const way = await pick<'local' | 'key' | 'tour' | 'server' | { readonly key: string }>(
    [
      ...(problem === undefined ? [] : [line(visible(problem), 'warn'), []]),
      line('Dragoman works on your code with whatever model you have.', 'strong'),
      line('There is no key here yet. Three ways on:'),
      [],
    ],
    [
      ...(local === undefined
        ? []
        : [{ value: 'local' as const, label: `Use ${visible(local)}`, about: 'it answers on this machine' }]),
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
  if (way === 'local' && local !== undefined) {
    // The choice holds from now on: nobody wants this page with every start.
    changeUserConfig((own) => ({ ...own, model: local }))
    process.stdout.write(
      `${visible(local)} is your model from now on; /model changes it for a session, “model” in ${tilde(userConfig())} for good.\n`,
    )
    return { model: local }
  }
  if (way === 'tour') return { tour: true }
  if (way === 'server') {
    process.stdout.write(LOCAL)
    return undefined
  }
  if (way !== 'key' && typeof way !== 'object') return undefined
  // Whoever goes back, or gave a key that does not work, stands before the same ways again.
  const pasted = await pasteKey(config, theme, typeof way === 'object' ? way.key : undefined)
  return pasted && 'model' in pasted ? pasted : firstRun(config, theme, pasted?.problem)
}

const LOCAL = `Start the server, then run dragoman again: it is found on its usual port.
  Ollama:     ollama serve, and ollama pull qwen3
  LM Studio:  load a model and switch the server on
  llama.cpp:  llama-server -m model.gguf --jinja
  vLLM:       vllm serve <model> --enable-auto-tool-choice \\
                --tool-call-parser <parser>
`

async function pasteKey(
  config: Config,
  theme: ThemeName,
  given: string | undefined,
): Promise<{ model: string } | { problem: string } | undefined> {
  const vendors = rowsWith(config).filter(
    ({ auth, port, model, keys, wire }) =>
      auth !== 'none' && port === undefined && model !== undefined && keys.length > 0 && wire !== 'code-assist',
  )
  const owner = given === undefined ? undefined : ownerOf(given)
  const known = vendors.find(({ id }) => id === owner)?.id
  const chosen =
    known ??
    (await pick<string | { readonly key: string }>(
      [line('Whose key is it?', 'strong')],
      vendors.map(({ id, keys }) => ({ value: id, label: id, about: keys[0] ?? '' })),
      theme,
      (key) => ({ key }),
    ))
  if (chosen === undefined) return undefined
  // A key where the name of its vendor was asked for: it says itself whose it is, or that is asked again.
  if (typeof chosen === 'object') return pasteKey(config, theme, chosen.key)
  if (given !== undefined) process.stdout.write(`The key for ${chosen} is tried.\n`)
  try {
    await (await import('../command/login.ts')).loginCommand([chosen], given)
  } catch (error) {
    if (!(error instanceof Complaint) || error.code === EXIT.interrupted) throw error
    return { problem: `${error.message.replace(/^./, (first) => first.toUpperCase())}.` }
  }
  const model = await configuredModel(config)
  return model === undefined ? undefined : { model }
}

/** Asks once whether the settings of a folder may be used, and says what that means. */
export async function askTrust(folder: string, theme: ThemeName): Promise<void> {
  const state = trustOf(folder)
  const files = watchedFiles(folder)
  if (files.length === 0 || (state !== 'unknown' && state !== 'changed')) return
  const answer = await pick(
    [
      line(
        `This folder has settings of its own${state === 'changed' ? ', and they have changed since you trusted them' : ''}:`,
        'strong',
      ),
      ...files.map((file) => line(`  ${visible(file)}`)),
      line('Trusted, they can choose the model and its address, start tool servers and allow commands unasked.'),
      line(
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
