// The id that is before every other, and that nothing has.

export const nilId = '00000000-0000-0000-0000-000000000000'
