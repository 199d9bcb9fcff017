#if GTK
    import CGTK

    /// Sets properties of objects for which there is no function; C's `g_object_set` is none that Swift can call.
    @MainActor enum Property {
        private static let booleanType = GType(5 << 2)
        private static let stringType = GType(16 << 2)

        static func set(_ name: String, of object: UnsafeMutableRawPointer?, to isTrue: Bool) {
            set(name, of: object, type: booleanType) { g_value_set_boolean($0, isTrue ? 1 : 0) }
        }

        static func set(_ name: String, of object: UnsafeMutableRawPointer?, to text: String) {
            set(name, of: object, type: stringType) { g_value_set_string($0, text) }
        }

        private static func set(
            _ name: String, of object: UnsafeMutableRawPointer?, type: GType,
            fill: (UnsafeMutablePointer<GValue>) -> Void
        ) {
            var value = GValue()
            g_value_init(&value, type)
            fill(&value)
            g_object_set_property(object?.assumingMemoryBound(to: GObject.self), name, &value)
            g_value_unset(&value)
        }
    }
#endif
