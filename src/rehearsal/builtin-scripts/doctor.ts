import type { RehearsalScript, ScriptStep } from '../script/script.ts'
import { defined } from '../../model/defined.ts'

/** Answers each probe of `dragoman doctor` correctly; it answers by content, not by position. */
export const doctorScript: RehearsalScript = {
  about: 'Answers every probe of dragoman doctor correctly: dragoman doctor rehearsal/patient.',
  steps: [
    createConditionalStep('single word: ready', { say: 'ready' }),
    createConditionalStep('weather in Oslo? Use the tool', {
      turns: 0,
      call: [{ name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } }],
    }),
    createConditionalStep('weather in Oslo? Use the tool', {
      results: '7 degrees',
      say: 'It rains in Oslo, at 7 degrees.',
    }),
    createConditionalStep('weather in Oslo? Use the tool', { results: 'is down', say: 'The weather is not known.' }),
    createConditionalStep('weather in Oslo? Use the tool', { results: 'the picture', say: 'The picture is red.' }),
    createConditionalStep('Oslo and in Lima', {
      call: [
        { name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } },
        { name: 'get_weather', args: { city: 'Lima, the capital of Peru' } },
      ],
    }),
    createConditionalStep('List my notes', { call: [{ name: 'list_notes', args: {} }] }),
    ...[1, 2, 3, 4, 5].map((n) =>
      createConditionalStep('Call take_step', { turns: n - 1, call: [{ name: 'take_step', args: { n } }] }),
    ),
    createConditionalStep('Call take_step', { turns: 5, say: 'done' }),
    createConditionalStep('six weeks and three days', { think: 'Six times seven and three.', say: '45' }),
    createConditionalStep('capital of Norway? Think', {
      turns: 0,
      think: 'The capital of Norway is Oslo.',
      call: [{ name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } }],
    }),
    createConditionalStep('capital of Norway? Think', { results: '7 degrees', say: 'It rains in Oslo, at 7 degrees.' }),
    createConditionalStep('And of Peru', { say: 'Lima' }),
    createConditionalStep('single word: fine', { say: 'fine' }),
    createConditionalStep('with the tool that you must use', { call: [{ name: 'list_notes', args: {} }] }),
    createConditionalStep('without any tool', { say: 'Hello.' }),
    createConditionalStep('with any tool', { call: [{ name: 'list_notes', args: {} }] }),
    createConditionalStep('Plant a tree', {
      call: [{ name: 'plant_tree', args: { root: { name: 'oak', children: [{ name: 'acorn' }] } } }],
    }),
    createConditionalStep('Set the key alpha', {
      call: [{ name: 'set_value', args: { key: 'alpha', value: 5, note: 'if a < b && c > d' } }],
    }),
    createConditionalStep('the only tool', { call: [{ name: '{tool}', args: {} }] }),
    createConditionalStep('about the sea', {
      call: [{ name: 'write_note', args: { text: 'The sea is wide and deep, and so on.' } }],
      misbehave: [{ kind: 'length' }],
    }),
    createConditionalStep('about the moon', {
      call: [{ name: 'write_note', args: { text: 'The moon is round and far, and so on.' } }],
    }),
    createConditionalStep('Reply with exactly this line', { say: 'Grüße, 你好, 🙂' }),
    createConditionalStep('How many rules', { say: '120', usage: { input: 40, cacheRead: 2000 } }),
    createConditionalStep('What is the word', { say: 'heron' }),
  ],
  end: { say: 'ready' },
}

type ConditionalStepOptions = Omit<ScriptStep, 'when'> & { readonly turns?: number; readonly results?: string }

function createConditionalStep(user: string, { turns, results, ...step }: ConditionalStepOptions): ScriptStep {
  return { ...step, when: { user, ...defined({ turns, results }) } }
}
