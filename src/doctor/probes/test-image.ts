/** A red square of 16 by 16 pixels as PNG: large enough that no API rejects it for its size. */
export const TEST_IMAGE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4ISdHEmIY1TCqYfhqAADkYgQQ6ZuA8QAAAABJRU5ErkJggg=='
