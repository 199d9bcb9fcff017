#if GTK
    import CGTK

    /// Holds an item of a list's model, so that no other one gets its address meanwhile.
    final class ModelItem {
        private let pointer: gpointer

        init(_ pointer: gpointer) {
            self.pointer = pointer
            g_object_ref(pointer)
        }

        deinit { g_object_unref(pointer) }

        func isSame(as other: gpointer?) -> Bool { pointer == other }
    }
#endif
