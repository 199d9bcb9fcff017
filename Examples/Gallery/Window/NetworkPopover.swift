#if GTK
    import AlcedoGTK
    import CGTK

    /// Sliders for the weather on the network, and what empties the caches.
    @MainActor final class NetworkPopover {
        /// The button that opens it.
        let button: Widget

        init(weather: NetworkWeather, hasServer: Bool, empty: @escaping @MainActor () -> Void) {
            let delay = Self.slider(upTo: 2_000, step: 10, value: weather.delay / .milliseconds(1)) {
                weather.delay = .milliseconds(Int($0))
            }
            let failures = Self.slider(upTo: 100, step: 1, value: weather.failureRate * 100) {
                weather.failureRate = $0 / 100
            }
            var rows = [Widget.label("Longer answers, in milliseconds", classes: "key"), delay]
            if hasServer { rows += [.label("Pictures not to be had, in per cent", classes: "key"), failures] }
            rows.append(.button(text: "Empty the caches", action: empty))
            let popover: Widget = gtk_popover_new()
            let content = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 8, rows)
            gtk_widget_set_size_request(content, 260, -1)
            gtk_popover_set_child(popover.cast(), content)
            button = gtk_menu_button_new()
            gtk_menu_button_set_icon_name(button.opaque, "network-wireless-symbolic")
            gtk_menu_button_set_popover(button.opaque, popover)
            gtk_widget_set_tooltip_text(button, "The network")
        }

        private static func slider(
            upTo maximum: Double, step: Double, value: Double, set: @escaping @MainActor (Double) -> Void
        ) -> Widget {
            let slider: Widget = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, maximum, step)
            gtk_scale_set_draw_value(slider.cast(), 1)
            gtk_scale_set_value_pos(slider.cast(), GTK_POS_RIGHT)
            gtk_range_set_value(slider.cast(), value)
            Signal(slider.object, "value-changed") { set(gtk_range_get_value(slider.cast())) }
            return slider
        }
    }
#endif
