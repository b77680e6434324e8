import type { RehearsalScript, ScriptStep } from '../script/script.ts'
import { defined } from '../../model/defined.ts'

const OSLO_CALL = { name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } }
const LIST_CALL = { name: 'list_notes', args: {} }

/** Answers each probe of `dragoman doctor` correctly; it answers by content, not by position. */
export const doctorScript: RehearsalScript = {
  about: 'Answers every probe of dragoman doctor correctly: dragoman doctor rehearsal/patient.',
  steps: [
    answer('single word: ready', { say: 'ready' }),
    answer('weather in Oslo? Use the tool', { turns: 0, call: [OSLO_CALL] }),
    answer('weather in Oslo? Use the tool', { results: '7 degrees', say: 'It rains in Oslo, at 7 degrees.' }),
    answer('weather in Oslo? Use the tool', { results: 'is down', say: 'The weather is not known.' }),
    answer('weather in Oslo? Use the tool', { results: 'the picture', say: 'The picture is red.' }),
    answer('Oslo and in Lima', {
      call: [OSLO_CALL, { name: 'get_weather', args: { city: 'Lima, the capital of Peru' } }],
    }),
    answer('List my notes', { call: [LIST_CALL] }),
    ...[1, 2, 3, 4, 5].map((n) =>
      answer('Call take_step', { turns: n - 1, call: [{ name: 'take_step', args: { n } }] }),
    ),
    answer('Call take_step', { turns: 5, say: 'done' }),
    answer('six weeks and three days', { think: 'Six times seven and three.', say: '45' }),
    answer('capital of Norway? Think', { turns: 0, think: 'The capital of Norway is Oslo.', call: [OSLO_CALL] }),
    answer('capital of Norway? Think', { results: '7 degrees', say: 'It rains in Oslo, at 7 degrees.' }),
    answer('And of Peru', { say: 'Lima' }),
    answer('single word: fine', { say: 'fine' }),
    answer('with the tool that you must use', { call: [LIST_CALL] }),
    answer('without any tool', { say: 'Hello.' }),
    answer('with any tool', { call: [LIST_CALL] }),
    answer('Plant a tree', {
      call: [{ name: 'plant_tree', args: { root: { name: 'oak', children: [{ name: 'acorn' }] } } }],
    }),
    answer('Set the key alpha', {
      call: [{ name: 'set_value', args: { key: 'alpha', value: 5, note: 'if a < b && c > d' } }],
    }),
    answer('the only tool', { call: [{ name: '{tool}', args: {} }] }),
    answer('about the sea', {
      call: [{ name: 'write_note', args: { text: 'The sea is wide and deep, and so on.' } }],
      misbehave: [{ kind: 'length' }],
    }),
    answer('about the moon', {
      call: [{ name: 'write_note', args: { text: 'The moon is round and far, and so on.' } }],
    }),
    answer('Reply with exactly this line', { say: 'Grüße, 你好, 🙂' }),
    answer('How many rules', { say: '120', usage: { input: 40, cacheRead: 2000 } }),
    answer('What is the word', { say: 'heron' }),
  ],
  end: { say: 'ready' },
}

type AnswerOptions = Omit<ScriptStep, 'when'> & { readonly turns?: number; readonly results?: string }

function answer(user: string, { turns, results, ...step }: AnswerOptions): ScriptStep {
  return { ...step, when: { user, ...defined({ turns, results }) } }
}
