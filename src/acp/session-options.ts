import { EFFORT_LEVELS, type ModelParams } from '../model/request.ts'
import { APPROVAL_MODE_NAMES, APPROVAL_MODES, type ApprovalMode } from '../policy/policy.ts'
import type { SessionConfigOption, SessionModeState } from './protocol.ts'

/** The names of the options of a session. */
export const OPTION = { mode: 'mode', model: 'model', effort: 'effort' } as const

/** The value of the effort that leaves it to the model. */
const MODEL_DECIDES = 'default'

export interface SessionOptionValues {
  readonly mode: ApprovalMode
  readonly model: string
  readonly effort: ModelParams['effort']
  /** The models to choose from, as far as they are known. */
  readonly models: readonly string[]
}

/** The mode in the older form, for clients without options. */
export function createModeState(mode: ApprovalMode): SessionModeState {
  const availableModes = APPROVAL_MODE_NAMES.map((id) => ({
    id,
    name: MODE_NAMES[id],
    description: APPROVAL_MODES[id],
  }))
  return { currentModeId: mode, availableModes }
}

/** Mode, model and effort: a client that finds one option may hide all other selectors, so all three must be here. */
export function createConfigOptions({ mode, model, effort, models }: SessionOptionValues): SessionConfigOption[] {
  const current = effort === undefined ? MODEL_DECIDES : String(effort)
  const efforts = [MODEL_DECIDES, ...EFFORT_LEVELS]
  return [
    {
      id: OPTION.mode,
      name: 'Mode',
      description: 'How much runs without approval',
      category: 'mode',
      type: 'select',
      currentValue: mode,
      options: APPROVAL_MODE_NAMES.map((value) => ({
        value,
        name: MODE_NAMES[value],
        description: APPROVAL_MODES[value],
      })),
    },
    {
      id: OPTION.model,
      name: 'Model',
      description: 'The model, as provider/model',
      category: 'model',
      type: 'select',
      currentValue: model,
      options: [...new Set([model, ...models])].map((value) => ({ value, name: value })),
    },
    {
      id: OPTION.effort,
      name: 'Effort',
      description: 'How much the model thinks',
      category: 'thought_level',
      type: 'select',
      currentValue: current,
      options: [...new Set([...efforts, current])].map((value) => ({ value, name: value })),
    },
  ]
}

export function parseMode(value: unknown): ApprovalMode | undefined {
  return APPROVAL_MODE_NAMES.find((mode) => mode === value)
}

/** Null if the value is unknown; undefined if the model decides. */
export function parseEffortValue(value: unknown): ModelParams['effort'] | null {
  if (value === MODEL_DECIDES) return undefined
  return EFFORT_LEVELS.find((level) => level === value) ?? (/^[1-9]\d{0,8}$/.test(String(value)) ? Number(value) : null)
}

const MODE_NAMES: Readonly<Record<ApprovalMode, string>> = {
  default: 'Ask',
  auto_edit: 'Edit without asking',
  yolo: 'Never ask',
  plan: 'Plan',
}
