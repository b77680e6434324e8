import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import type { SkillCatalog } from '../../tool/builtin/activate-skill.ts'
import type { Config } from '../config/schema.ts'
import { PROJECT_FILE_KINDS } from '../config/project-files.ts'
import { getConfigFolder } from '../paths/folders.ts'
import type { PromptGrants } from '../prompt-files/prompt-grants.ts'

/** The skills of a session; undefined if there are none. Without a folder of skills, nothing is loaded for it. */
export async function loadSkillCatalog(folder: string, { skills: named = [] }: Pick<Config, 'skills'>) {
  if (named.length === 0 && !mayHaveSkills(folder)) return undefined
  const { loadSkills } = await import('../prompt-files/skill-files.ts')
  const all = loadSkills(folder)
  const skills = all.filter(({ isForModel }) => isForModel)
  if (all.length === 0) return undefined
  return {
    /** The user's own skills are outside of the workspace, and their files must be readable. */
    readFolders: all.map((skill) => skill.folder).filter((one) => !isInsideFolder(one, folder)),
    withGrants: (grants: PromptGrants): SkillCatalog => ({
      // Our own folder is full of secrets for the policy; the skills in it are not.
      skills: skills.map(({ name, about, path }) => ({
        name,
        about,
        ...(!isInsideFolder(path, getConfigFolder()) && { path }),
      })),
      async load(name, words) {
        const skill = skills.find((one) => one.name === name)
        if (!skill)
          return {
            problem: `There is no skill “${name}”. The skills are: ${skills.map((one) => one.name).join(', ')}.`,
          }
        const { frameSkill } = await import('../prompt-files/expand-prompt.ts')
        const { fillTemplate } = await import('../prompt-files/template.ts')
        const loaded = skill.load()
        if ('problem' in loaded) return { problem: `The skill ${name} cannot be used: ${loaded.problem}.` }
        await grants.add(skill)
        // The commands in it are not run: the model calls what it needs.
        const text = fillTemplate(loaded.template, loaded.syntax, words)
          .map((segment) =>
            segment.kind === 'shell'
              ? `!\`${segment.command}\``
              : segment.kind === 'file'
                ? segment.path
                : segment.text,
          )
          .join('')
        return { text: frameSkill(skill, text) }
      },
    }),
  }
}

/** A few questions to the disk, and no reading. */
function mayHaveSkills(folder: string): boolean {
  const home = homedir()
  const places = ['.agents', '.claude', '.gemini', '.codex'].map((name) => join(home, name, 'skills'))
  const own = PROJECT_FILE_KINDS.skills.paths
  const tops = new Set(own.map((path) => dirname(path)))
  return (
    [join(getConfigFolder(), 'skills'), ...places].some((path) => existsSync(path)) ||
    [...tops].some(
      (top) =>
        existsSync(join(folder, top)) && own.some((path) => dirname(path) === top && existsSync(join(folder, path))),
    )
  )
}
