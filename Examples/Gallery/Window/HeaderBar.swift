#if GTK
    import AlcedoGTK
    import CGTK

    /// Title, search, size of the cells, network.
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
            Signal(search.object, "search-changed") {
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
#endif
