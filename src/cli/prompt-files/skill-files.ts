import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { defined } from '../../model/defined.ts'
import { clipText } from '../../model/text.ts'
import { sanitizeForModel } from '../../policy/text/sanitize-for-model.ts'
import { listNamedSkillFolders, PROJECT_FILE_KINDS } from '../config/project-files.ts'
import { getUserConfigPath, readConfigFile } from '../config/read-settings.ts'
import { expandHome, getConfigFolder } from '../paths/folders.ts'
import type { CustomPrompt } from './custom-prompt.ts'
import { getArgumentHint, getListField, getTextField, parseFrontMatter } from './front-matter.ts'
import { listProjectPromptFiles, listUserPromptFiles, type PromptFile } from './prompt-source.ts'

/** A skill: a folder with a SKILL.md, and files that its text refers to. */
export interface Skill extends CustomPrompt {
  readonly kind: 'skill'
  /** The folder of its files. */
  readonly folder: string
  /** Whether the model may use it unasked. */
  readonly isForModel: boolean
}

/** The skills of a trusted project, then the user's own; of the same name, the first one counts. */
export function loadSkills(folder: string): Skill[] {
  const files = [
    ...listProjectPromptFiles(
      folder,
      'skills',
      [...PROJECT_FILE_KINDS.skills.paths, ...listNamedSkillFolders(folder)],
      isSkillFile,
    ),
    ...listUserSkillFolders().flatMap((root) => listUserPromptFiles(root, isSkillFile)),
  ]
  const found = new Map<string, Skill>()
  for (const file of files) {
    const skill = readSkill(file)
    if (skill && !found.has(skill.name)) found.set(skill.name, skill)
  }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Where the user's own skills are: our folder, and those of other agents. */
export function listUserSkillFolders(): string[] {
  return [
    join(getConfigFolder(), 'skills'),
    ...['.agents', '.claude', '.gemini', '.codex'].map((name) => join(homedir(), name, 'skills')),
    ...(readConfigFile(getUserConfigPath())?.skills ?? []).map(expandHome).filter((path) => isAbsolute(path)),
  ]
}

function isSkillFile(name: string): boolean {
  return /^(?:[^/]+\/){1,3}SKILL\.md$/i.test(name) && !/(?:^|\/)\./.test(name)
}

const MAX_DESCRIPTION_CHARS = 1024

function readSkill(file: PromptFile): Skill | undefined {
  const read = file.read()
  if ('problem' in read) return undefined
  const { fields, body } = parseFrontMatter(read.text)
  const folder = dirname(file.path)
  const ownName = getTextField(fields, 'name')
  const name = ownName !== undefined && NAME_PATTERN.test(ownName) ? ownName : basename(folder)
  if (!NAME_PATTERN.test(name)) return undefined
  const about = getTextField(fields, 'description') ?? body.trim().split('\n', 1)[0] ?? ''
  return {
    kind: 'skill',
    name,
    // Text of a file, which a model will read as part of its tools.
    about: clipText(sanitizeForModel(about.replaceAll(/\s+/g, ' ')), MAX_DESCRIPTION_CHARS),
    path: file.path,
    folder,
    allowedTools: getListField(fields, 'allowed-tools'),
    isForModel: getTextField(fields, 'disable-model-invocation') !== 'true',
    isHidden: getTextField(fields, 'user-invocable') === 'false',
    ...defined({ argumentHint: getArgumentHint(fields), model: getTextField(fields, 'model') }),
    load() {
      const again = file.read()
      if ('problem' in again) return again
      const text = parseFrontMatter(again.text).body.trim()
      return { template: text.replaceAll(/\$\{(?:CLAUDE|DRAGOMAN)_SKILL_DIR\}/g, () => folder), syntax: 'markdown' }
    },
  }
}

const NAME_PATTERN = /^[A-Za-z0-9][\w.-]{0,63}$/
