#if GTK
    import AlcedoGTK
    import CGTK

    typealias Widget = UnsafeMutablePointer<GtkWidget>

    /// Helpers that create and change widgets. They call GTK's functions with the casts that C macros perform.
    extension UnsafeMutablePointer<GtkWidget> {
        var opaque: OpaquePointer { OpaquePointer(self) }
        var object: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }

        func cast<T>(to type: T.Type = T.self) -> UnsafeMutablePointer<T> { object.assumingMemoryBound(to: type) }

        @MainActor static func box(
            _ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget] = [], classes: String...
        ) -> Widget {
            let box: Widget = gtk_box_new(orientation, spacing)
            for child in children { gtk_box_append(box.cast(), child) }
            return box.styled(classes)
        }

        @MainActor static func label(_ text: String = "", classes: String...) -> Widget {
            let label: Widget = gtk_label_new(text)
            gtk_label_set_xalign(label.opaque, 0)
            return label.styled(classes)
        }

        @MainActor static func button(
            icon: String, tip: String, classes: String..., action: @escaping @MainActor () -> Void
        ) -> Widget {
            let button: Widget = gtk_button_new_from_icon_name(icon)
            gtk_widget_set_tooltip_text(button, tip)
            Signal.connect(button.object, "clicked", action)
            return button.styled(classes)
        }

        @MainActor static func button(
            text: String, classes: String..., action: @escaping @MainActor () -> Void
        ) -> Widget {
            let button: Widget = gtk_button_new_with_label(text)
            Signal.connect(button.object, "clicked", action)
            return button.styled(classes)
        }

        @MainActor func styled(_ classes: [String]) -> Widget {
            for name in classes { gtk_widget_add_css_class(self, name) }
            return self
        }

        /// Sets whether the widget expands horizontally (`across`) and vertically (`along`), and returns it.
        @MainActor func expanding(across: Bool = true, along: Bool = true) -> Widget {
            gtk_widget_set_hexpand(self, across ? 1 : 0)
            gtk_widget_set_vexpand(self, along ? 1 : 0)
            return self
        }

        @MainActor func setText(_ text: String) { gtk_label_set_text(opaque, text) }

        @MainActor var isVisible: Bool {
            get { gtk_widget_get_visible(self) != 0 }
            nonmutating set { gtk_widget_set_visible(self, newValue ? 1 : 0) }
        }

        @MainActor func setClass(_ name: String, _ isSet: Bool) {
            if isSet { gtk_widget_add_css_class(self, name) } else { gtk_widget_remove_css_class(self, name) }
        }
    }

    /// A setter for object properties without a function of their own. Swift cannot call C's variadic `g_object_set`.
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
