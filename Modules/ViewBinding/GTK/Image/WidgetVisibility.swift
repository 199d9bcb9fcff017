#if GTK
    import CGTK

    /// The visibility of a widget: whether it is mapped and not scrolled out of its scrolled windows. A grid has many
    /// more mapped cells than visible ones.
    @MainActor final class WidgetVisibility {
        /// A connected signal and its object, which is retained so that the signal can be disconnected.
        private struct Listening {
            var object: UnsafeMutableRawPointer
            var signal: Signal
        }

        /// The widget, which is not retained. The pointer stays valid, because the widget owns the canvas, which owns
        /// this object.
        private let widget: UnsafeMutablePointer<GtkWidget>
        private var listening: [Listening] = []
        /// Whether the widget may have moved since the last check.
        private var mayHaveMoved = false
        private var onVisible: (@MainActor () -> Void)?

        init(widget: UnsafeMutablePointer<GtkWidget>) { self.widget = widget }

        /// Whether the widget is visible according to the last layout.
        var isVisible: Bool {
            isMapped && scrollers.allSatisfy { Self.overlap(widget, UnsafeMutablePointer($0)) }
        }

        private var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }

        /// Calls a closure once, after the frame in which the mapped widget becomes visible. The closure replaces an
        /// earlier one. It is never called if the widget is not mapped now. Call ``stopWaiting()`` when the widget is
        /// unmapped.
        func awaitVisible(_ onVisible: @escaping @MainActor () -> Void) {
            stopWaiting()
            guard isMapped, let clock = gtk_widget_get_frame_clock(widget) else { return }
            self.onVisible = onVisible
            // A newly bound cell is laid out in the next frame.
            mayHaveMoved = true
            for scroller in scrollers {
                let adjustments = [
                    gtk_scrolled_window_get_hadjustment(scroller), gtk_scrolled_window_get_vadjustment(scroller),
                ]
                for adjustment in adjustments.compactMap({ $0 }) {
                    for change in ["value-changed", "changed"] {
                        listen(to: UnsafeMutableRawPointer(adjustment), change) { $0.mayHaveMoved = true }
                    }
                }
            }
            // Scrolled content is laid out in the frame after a change of its adjustment.
            listen(to: UnsafeMutableRawPointer(clock), "after-paint") { $0.check() }
        }

        /// Stops waiting and disconnects all signals.
        func stopWaiting() {
            let ended = listening
            listening = []
            onVisible = nil
            for entry in ended {
                entry.signal.disconnect()
                g_object_unref(entry.object)
            }
        }

        private func check() {
            guard mayHaveMoved else { return }
            mayHaveMoved = false
            guard isVisible, let onVisible else { return }
            stopWaiting()
            onVisible()
        }

        private func listen(
            to object: UnsafeMutableRawPointer, _ name: String,
            _ handler: @escaping @MainActor (WidgetVisibility) -> Void
        ) {
            g_object_ref(object)
            let signal = Signal(object, name) { [weak self] in
                if let self { handler(self) }
            }
            listening.append(Listening(object: object, signal: signal))
        }

        /// The `GtkScrolledWindow` ancestors of the widget.
        private var scrollers: [OpaquePointer] {
            var found: [OpaquePointer] = []
            var ancestor = gtk_widget_get_parent(widget)
            while let next = ancestor.flatMap({ gtk_widget_get_ancestor($0, gtk_scrolled_window_get_type()) }) {
                found.append(OpaquePointer(next))
                ancestor = gtk_widget_get_parent(next)
            }
            return found
        }

        private static func overlap(
            _ widget: UnsafeMutablePointer<GtkWidget>, _ scroller: UnsafeMutablePointer<GtkWidget>
        ) -> Bool {
            var bounds = graphene_rect_t()
            // A widget without a size or position is treated as visible.
            guard gtk_widget_get_width(widget) > 0, gtk_widget_compute_bounds(widget, scroller, &bounds) != 0 else {
                return true
            }
            let (left, top) = (bounds.origin.x, bounds.origin.y)
            return left < Float(gtk_widget_get_width(scroller)) && top < Float(gtk_widget_get_height(scroller))
                && left + bounds.size.width > 0 && top + bounds.size.height > 0
        }
    }
#endif
