// A filter of a list whose values are few: a choice among all of them.
export function Select({
  label,
  value,
  options,
  disabled = false,
  onText,
}: {
  label: string
  value: string
  options: readonly (readonly [value: string, shown: string])[]
  disabled?: boolean
  onText: (value: string) => void
}) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onText(event.target.value)}
      className="field max-w-48 max-sm:max-w-none max-sm:flex-1 max-sm:basis-[45%]"
    >
      {options.map(([one, shown]) => (
        <option key={one} value={one}>
          {shown}
        </option>
      ))}
    </select>
  )
}
