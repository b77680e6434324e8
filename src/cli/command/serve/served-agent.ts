import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localHost } from '../../../host/local-host.ts'
import type { Model } from '../../../provider/index.ts'
import type { AgentSource } from '../../../server/worker/agent-source.ts'
import { builtinTools } from '../../../tool/builtin/index.ts'
import type { Settings } from '../../config/read-settings.ts'
import { getWriteLocksFolder } from '../../paths/folders.ts'
import { chooseModel, type ChosenModel } from '../../setup/choose-model.ts'
import { createPoliciesFromSettings, listSecretFilePatterns } from '../../setup/policies.ts'
import { requireSandbox, toSandboxOptions } from '../../setup/sandbox-options.ts'
import { loadSystemPrompt } from '../../setup/system-prompt.ts'
import type { Workspaces } from './workspaces.ts'

interface ServedAgents {
  readonly openAgent: AgentSource
  close(): Promise<void>
}

/** The agent of `dragoman serve`: in a workspace it has the built-in tools, and without one it only talks. */
export function createServedAgents(defaultModel: string, settings: Settings, workspaces: Workspaces): ServedAgents {
  const models = new Map<string, Promise<ChosenModel>>()
  const openModel = async (name: string): Promise<Model> => {
    const opening = models.get(name) ?? chooseModel(name, settings.config)
    models.set(name, opening)
    // A model that could not be opened, such as without a key, is tried again.
    opening.catch(() => models.delete(name))
    return (await opening).model
  }

  return {
    async openAgent(session, signal) {
      const model = await openModel(session.settings.model ?? defaultModel)
      const folder = await workspaces.open(session, signal)
      if (folder === undefined) return { options: { model, instructions: TALK_INSTRUCTIONS } }
      const scratch = mkdtempSync(join(tmpdir(), 'dragoman-'))
      const { sandbox, ...limits } = toSandboxOptions({}, settings, folder)
      // Later mounts cover earlier ones: of all workspaces, a command sees its own.
      const hiddenFolders = [...(sandbox.hiddenFolders ?? []), workspaces.root]
      const host = localHost({
        folders: [folder],
        scratch,
        locks: getWriteLocksFolder(),
        ...limits,
        sandbox: { ...sandbox, hiddenFolders },
      })
      const close = (): void => {
        host.close()
        rmSync(scratch, { recursive: true, force: true })
      }
      try {
        await requireSandbox({}, settings, host)
        const policies = createPoliciesFromSettings(settings, {
          folders: [folder, scratch],
          sandboxed: async () => (await host.sandbox()).isActive,
        })
        const mode = settings.config.approvalMode ?? 'default'
        return {
          options: {
            model,
            instructions: loadSystemPrompt({}),
            tools: builtinTools({ secretFiles: listSecretFilePatterns(settings) }),
            policy: policies(mode === 'plan' ? 'default' : mode),
            host,
            folders: [folder],
          },
          close,
        }
      } catch (error) {
        close()
        throw error
      }
    },
    async close() {
      for (const opening of models.values()) await opening.then((one) => one.close()).catch(() => undefined)
    },
  }
}

const TALK_INSTRUCTIONS = 'You are a helpful assistant. You have no files and no tools in this conversation.'
