// A choice of a few, side by side. Native radio buttons: a component that measures where its marker
// has to slide makes the browser lay out the whole page before it is drawn.
import { type ReactNode, useId } from 'react';

interface SegmentsProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  choices: readonly { value: Value; label: ReactNode; disabled?: boolean }[];
  disabled?: boolean;
  /** As high as form fields, and as wide as there is room. */
  inForm?: boolean;
}

export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { label, value, onChange, choices, disabled, inForm } = props;
  const name = useId();
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className="segments"
      data-in-form={inForm || undefined}
    >
      {choices.map((choice) => (
        <label key={choice.value} className="segment">
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
            disabled={disabled || choice.disabled}
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}
