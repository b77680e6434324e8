import { RUN_OPTIONS } from '../../args/options.ts'
import { EFFORT_LEVELS } from '../../../model/request.ts'
import { APPROVAL_MODE_NAMES, APPROVAL_MODES } from '../../../policy/policy.ts'
import { EFFORT_VALUES, parseEffort } from '../../setup/generation-settings.ts'
import { defined } from '../../../model/defined.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { formatNumber } from '../../output/format.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { AppParts } from '../app-parts.ts'
import { offerChoices, setMode, setModel } from '../session-actions.ts'
import { styledLines } from '../term/styled-line.ts'
import type { MenuItem } from '../ui-state.ts'

export async function changeModel(app: AppParts, name: string): Promise<void> {
  if (name === '') return app.ui.isPlain ? showModels(app) : offerChoices(app, 'model')
  const problem = await setModel(app, name)
  if (problem === undefined) app.ui.notify(`The model is now ${name}; the conversation continues.`)
  else app.ui.notify(problem, 'bad')
}

async function showModels({ ui, settings }: AppParts): Promise<void> {
  const { listModelsByProvider: listProviderOffers } = await import('../../command/models/models.ts')
  const { formatModels } = await import('../../command/models/models-text.ts')
  const { offers, catalog } = await listProviderOffers(settings.config)
  const usable = offers.filter((offer) => offer.usable)
  ui.print([[], ...styledLines(formatModels(usable, catalog, false))])
  ui.notify('Use /model <name> to switch. Run dragoman models to see why other models are not available.')
}

export async function listModelChoices({ settings, session, folder }: AppParts): Promise<MenuItem[]> {
  const { listModelsByProvider: listProviderOffers } = await import('../../command/models/models.ts')
  const { offers } = await listProviderOffers(settings.config)
  const found = offers.flatMap(({ provider, usable, models }) =>
    usable
      ? models.map(({ id, default: isDefault, window }) => ({
          value: escapeForTerminal(`${provider}/${id}`),
          isDefault,
          ...(window !== undefined && { about: `${formatNumber(window / 1000)}k tokens` }),
        }))
      : [],
  )
  // What is in use here comes first: the models of the last sessions, then the default of each provider.
  const recent = await listRecentModels(folder)
  const rank = ({ value, isDefault }: (typeof found)[number]): number => {
    const at = recent.indexOf(value)
    return at >= 0 ? at : isDefault ? recent.length : recent.length + 1
  }
  const { provider, model } = session.agent.model.origin
  const current = escapeForTerminal(`${provider}/${model}`)
  const others = found
    .filter(({ value }) => value !== current)
    .toSorted((one, other) => rank(one) - rank(other))
    .map(({ value, about }) => ({ value, ...defined({ about }) }))
  return [{ value: current, about: 'in use' }, ...others]
}

/** The models of the last sessions of this folder, the latest first. */
async function listRecentModels(folder: string): Promise<string[]> {
  const sessions = await jsonlStore(getSessionsFolder(folder)).list({ limit: 30 })
  return [...new Set(sessions.flatMap(({ asked, model }) => asked ?? model ?? []))]
}

export function changeEffort({ ui, session }: AppParts, word: string): void {
  const current = session.effort ?? 'not set: the model decides'
  if (word === '') return ui.notify(`The effort is ${current}. Change it with /effort ${EFFORT_LEVELS.join('|')}.`)
  const effort = parseEffort(word)
  if (effort === undefined) return ui.notify(`Unknown effort; use ${EFFORT_VALUES}.`, 'warn')
  session.setEffort(effort)
  ui.notify(`The effort is now ${effort}, for this session. It applies from the next request on.`)
}

export function listModeChoices(): MenuItem[] {
  return APPROVAL_MODE_NAMES.map((value) => ({ value, about: APPROVAL_MODES[value] }))
}

export function changeMode(app: AppParts, word: string): void {
  const { valueAliases } = RUN_OPTIONS['approval-mode']
  const meant = Object.entries(valueAliases).find(([alias]) => alias === word)?.[1] ?? word
  const mode = APPROVAL_MODE_NAMES.find((one) => one === meant)
  if (!mode) return app.ui.notify(`Unknown mode; use one of ${APPROVAL_MODE_NAMES.join(', ')}.`, 'warn')
  setMode(app, mode)
  app.ui.notify(`Mode ${mode}: ${APPROVAL_MODES[mode]}.`)
}

export async function manageSandbox({ ui, session: { sandbox }, status }: AppParts, words: string): Promise<void> {
  const requestedNetwork = /^network (on|off)$/.exec(words)?.[1]
  if (requestedNetwork === undefined && words !== '')
    return ui.notify('Use /sandbox, /sandbox network on or /sandbox network off.', 'warn')
  if (requestedNetwork !== undefined) {
    sandbox.setNetwork(requestedNetwork === 'on')
    await status.refreshSandbox()
  }
  const state = await sandbox.state()
  if (!state.isActive)
    return ui.notify([`Commands run without a sandbox: ${state.why}`, state.remedy].filter(Boolean).join(' '))
  const network = state.network
    ? 'Network access is on; /sandbox network off blocks it.'
    : 'Network access is off; /sandbox network on allows it for this session.'
  ui.notify(`Commands run in a sandbox (${state.kind}). ${network}`)
}
