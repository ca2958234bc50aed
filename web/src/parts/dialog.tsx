// A dialog over the page. All of them are this one: Mantine's own gives the focus back only where
// it stays when it is closed, and most are there only while they are open.
import { Modal, type ModalProps } from '@mantine/core';
import { useFocusBack } from './focus-back.ts';

export function Dialog(props: ModalProps) {
  useFocusBack(props.opened);
  return <Modal {...props} returnFocus={false} />;
}
