#if GTK
    import AlcedoGTK
    import CGTK

    /// The header bar with the title, the search field, the cell size and the network settings.
    @MainActor final class HeaderBar {
        let widget: Widget
        private let subtitle = Widget.label(classes: "subtitle")
        private let search: Widget

        init(
            title: String, network: Widget, onSearch: @escaping @MainActor (String) -> Void,
            onZoom: @escaping @MainActor (_ larger: Bool) -> Void
        ) {
            let search: Widget = gtk_search_entry_new()
            self.search = search
            Property.set("placeholder-text", of: search.object, to: "Search names  ( / )")
            gtk_widget_set_size_request(search, 300, -1)
            Signal.connect(search.object, "search-changed") {
                onSearch(gtk_editable_get_text(search.opaque).map { String(cString: $0) } ?? "")
            }
            widget = gtk_header_bar_new()
            let names = Widget.box(GTK_ORIENTATION_VERTICAL, [.label(title, classes: "title"), subtitle])
            gtk_widget_set_valign(names, GTK_ALIGN_CENTER)
            gtk_header_bar_pack_start(widget.opaque, names)
            gtk_header_bar_set_title_widget(widget.opaque, search)
            let smaller = Widget.button(icon: "zoom-out-symbolic", tip: "Smaller (-)") { onZoom(false) }
            let larger = Widget.button(icon: "zoom-in-symbolic", tip: "Larger (+)") { onZoom(true) }
            let zoom = Widget.box(GTK_ORIENTATION_HORIZONTAL, [smaller, larger], classes: "linked")
            gtk_header_bar_pack_end(widget.opaque, network)
            gtk_header_bar_pack_end(widget.opaque, zoom)
        }

        func setSubtitle(_ text: String) { subtitle.setText(text) }

        func focusSearch() { gtk_widget_grab_focus(search) }

        var searchHasFocus: Bool {
            gtk_widget_get_state_flags(search).rawValue & GTK_STATE_FLAG_FOCUS_WITHIN.rawValue != 0
        }

        func clearSearch() { gtk_editable_set_text(search.opaque, "") }
    }

    /// A popover with sliders for the network conditions, and a button that empties the caches.
    @MainActor final class NetworkPopover {
        /// The button that opens the popover.
        let button: Widget

        init(conditions: NetworkConditions, hasServer: Bool, empty: @escaping @MainActor () -> Void) {
            let delay = Self.slider(upTo: 2_000, step: 10, value: conditions.delay / .milliseconds(1)) {
                conditions.delay = .milliseconds(Int($0))
            }
            let failures = Self.slider(upTo: 100, step: 1, value: conditions.failureRate * 100) {
                conditions.failureRate = $0 / 100
            }
            var rows = [Widget.label("Added latency, in milliseconds", classes: "key"), delay]
            if hasServer { rows += [.label("Failing images, in percent", classes: "key"), failures] }
            rows.append(.button(text: "Clear the caches", action: empty))
            let popover: Widget = gtk_popover_new()
            let content = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 8, rows)
            gtk_widget_set_size_request(content, 260, -1)
            gtk_popover_set_child(popover.cast(), content)
            button = gtk_menu_button_new()
            gtk_menu_button_set_icon_name(button.opaque, "network-wireless-symbolic")
            gtk_menu_button_set_popover(button.opaque, popover)
            gtk_widget_set_tooltip_text(button, "Network conditions")
        }

        private static func slider(
            upTo maximum: Double, step: Double, value: Double, set: @escaping @MainActor (Double) -> Void
        ) -> Widget {
            let slider: Widget = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, maximum, step)
            gtk_scale_set_draw_value(slider.cast(), 1)
            gtk_scale_set_value_pos(slider.cast(), GTK_POS_RIGHT)
            gtk_range_set_value(slider.cast(), value)
            Signal.connect(slider.object, "value-changed") { set(gtk_range_get_value(slider.cast())) }
            return slider
        }
    }
#endif
