import { filterObjects, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { Tool } from '../tool.ts'
import { createSimilarToolAliases, defineBuiltin } from './support/define-builtin.ts'
import text from './write-todos.md'

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const

type TodoStatus = (typeof STATUSES)[number]

/** A step of the task that the model works on. */
export interface Todo {
  readonly description: string
  readonly status: TodoStatus
}

/** The list of steps. It is only in the conversation: the last call has the current one. */
export const writeTodosTool: Tool = defineBuiltin({
  name: 'write_todos',
  text,
  kind: 'other',
  nameAliases: createSimilarToolAliases('TodoWrite', 'todowrite', 'update_plan'),
  properties: {
    todos: {
      type: 'array',
      description: 'All steps, in order.',
      items: {
        type: 'object',
        properties: {
          description: { type: 'string', description: 'What is to be done.' },
          status: { type: 'string', enum: [...STATUSES], description: 'Its state.' },
        },
        required: ['description', 'status'],
      },
    },
  },
  required: ['todos'],
  effects: () => [],
  check(input) {
    const todos = readTodos(input)
    if (todos.some(({ description }) => description.trim() === '')) return 'A step has an empty description.'
    return todos.filter(({ status }) => status === 'in_progress').length > 1
      ? 'Only one step may be in_progress.'
      : undefined
  },
  run(input) {
    const todos = readTodos(input)
    const open = todos.filter(({ status }) => status === 'pending' || status === 'in_progress').length
    const content =
      todos.length === 0 ? 'The list is empty now.' : `The list has ${todos.length} steps, ${open} of them open.`
    return Promise.resolve({ content, display: { title: formatTitle(todos), markdown: formatTodos(todos) } })
  },
})

/** The steps of a call of the tool. */
export function readTodos(input: JsonObject): Todo[] {
  return filterObjects(input['todos']).map(({ description, status }) => ({
    description: stringOrEmpty(description),
    status: STATUSES.find((one) => one === status) ?? 'pending',
  }))
}

function formatTitle(todos: readonly Todo[]): string {
  const done = todos.filter(({ status }) => status === 'completed').length
  return todos.length === 0 ? 'no steps' : `${done} of ${todos.length} done`
}

function formatTodos(todos: readonly Todo[]): string {
  return todos
    .map(({ description, status }) => {
      const words = description
        .replaceAll(/\s+/g, ' ')
        .trim()
        .replaceAll(/[*_~`[\]\\]/g, String.raw`\$&`)
      if (status === 'completed') return `- [x] ${words}`
      if (status === 'in_progress') return `- [ ] **${words}**`
      return status === 'cancelled' ? `- ~~${words}~~` : `- [ ] ${words}`
    })
    .join('\n')
}
