import type { CustomPrompt } from '../../prompt-files/custom-prompt.ts'
import { loadCustomPrompts } from '../../prompt-files/custom-prompts.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { AppParts } from '../app-parts.ts'
import { setModel } from '../session-actions.ts'
import type { SlashCommand } from './slash-command.ts'

/** The custom commands and the skills, as slash commands. */
export function loadCustomCommands(folder: string): SlashCommand[] {
  return loadCustomPrompts(folder).map((prompt) => ({
    name: prompt.name,
    about: prompt.kind === 'skill' ? `${prompt.about} (skill)` : prompt.about,
    ...(prompt.argumentHint !== undefined && { takes: prompt.argumentHint }),
    run: (app, words) => submitCustomPrompt(app, prompt, words),
  }))
}

async function submitCustomPrompt(app: AppParts, prompt: CustomPrompt, words: string): Promise<void> {
  const { ui, controller, session, mentions } = app
  const { preparePrompt } = await import('../../prompt-files/prepare-prompt.ts')
  await mentions.load(words)
  const prepared = await controller.whilePreparing((signal) =>
    preparePrompt(prompt, words, {
      agent: session.agent,
      grants: session.grants,
      signal,
      resolveMention: (name) => mentions.get(name),
    }),
  )
  if ('problem' in prepared) return ui.notify(escapeForTerminal(prepared.problem), 'warn')
  for (const remark of prepared.remarks) ui.notify(escapeForTerminal(remark))
  const restoreModel = await usePromptModel(app, prompt)
  const typed = words === '' ? `/${prompt.name}` : `/${prompt.name} ${words}`
  controller.submitParts(typed, prepared.parts, prepared.ownText)
  if (restoreModel) void controller.waitForEnd().then(restoreModel)
}

/** Only `provider/model` names a model here; the names of another agent mean nothing to other providers. */
async function usePromptModel(app: AppParts, { model, name }: CustomPrompt) {
  if (model === undefined || !model.includes('/') || app.controller.isBusy) return undefined
  const { provider, model: current } = app.session.agent.model.origin
  const problem = await setModel(app, model)
  if (problem === undefined) return async () => void (await setModel(app, `${provider}/${current}`))
  app.ui.notify(escapeForTerminal(`The model of /${name} is not used: ${problem}`), 'warn')
  return undefined
}
